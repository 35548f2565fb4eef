package main

import (
	"context"

	"github.com/controllings/controllings/scripts/tools/internal/crossbuild"
	"github.com/controllings/controllings/scripts/tools/internal/gomod"
	"github.com/controllings/controllings/scripts/tools/internal/gowork"
	"github.com/controllings/controllings/scripts/tools/internal/lessons"
	"github.com/controllings/controllings/scripts/tools/internal/links"
	"github.com/controllings/controllings/scripts/tools/internal/lint"
	"github.com/controllings/controllings/scripts/tools/internal/repo"
	"github.com/controllings/controllings/scripts/tools/internal/shell"
	"github.com/controllings/controllings/scripts/tools/internal/steps"
	"github.com/controllings/controllings/scripts/tools/internal/stubs"
	"github.com/controllings/controllings/scripts/tools/internal/versions"
	"github.com/controllings/controllings/scripts/tools/internal/words"
)

// A subject is what scripts/verify/NAME proves, and scripts/update/NAME writes
// where it is generated. It has either files or a check.
type subject struct {
	name  string
	files func(context.Context, *repo.Repo) ([]repo.File, error)
	check func(context.Context, *repo.Repo) ([]repo.Finding, error)
	mend  string // what to do when the check objects
}

// subjects in the order in which they are worth knowing: cheap ones first, and
// what others build on before them.
var subjects = []subject{
	{name: "words", check: words.Check, mend: "say it without the folder: relative to the repository, or with a placeholder"},
	{name: "shell", check: shell.Check, mend: "mend the scripts"},
	{name: "gowork", files: gowork.Files},
	{name: "gomod", files: gomod.Files},
	{name: "versions", check: versions.Check, mend: "change " + versions.File + " or the go.mod named above, then run scripts/update/gomod"},
	{name: "stubs", files: stubs.Files},
	{name: "steps", check: steps.Check, mend: "give the lesson, the stub, the check and its hints one number: see CONTRIBUTING.md"},
	{name: "links", check: links.Check, mend: "mend the link, or the heading that it names"},
	{name: "crossbuild", check: crossbuild.Check, mend: "keep what only one system has in files named for it (x_linux.go), with an answer for the others"},
	{name: "lint", check: lint.Check, mend: "mend what it says; formatting by: go tool -C scripts/tools golangci-lint fmt"},
	{name: "lessons", files: lessons.Files},
}
