package report

import _ "embed" // for Schema

// Schema is the JSON Schema of what a grade is in JSON.
//
//go:embed schema/grade.json
var Schema string
