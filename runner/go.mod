module github.com/controllings/controllings/runner

go 1.26.0

require (
	github.com/controllings/controllings/todo v0.0.0
	github.com/rogpeppe/go-internal v1.16.0
	github.com/spf13/cobra v1.10.2
	github.com/stretchr/testify v1.12.1
	golang.org/x/term v0.45.0
	sigs.k8s.io/yaml v1.6.0
)

replace github.com/controllings/controllings/todo => ../todo
