package main

import (
	"context"

	"github.com/controllings/controllings/scripts/tools/internal/gomod"
	"github.com/controllings/controllings/scripts/tools/internal/gowork"
	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// A subject is what a pair scripts/verify/NAME and scripts/update/NAME is about.
// It has files (generated: verify compares, update writes) or a check.
type subject struct {
	name  string
	files func(context.Context, *repo.Repo) ([]repo.File, error)
	check func(context.Context, *repo.Repo) ([]repo.Finding, error)
	mend  string // what to do when the check objects
}

// subjects in the order in which they are worth knowing: cheap ones first, and
// what others build on before them.
var subjects = []subject{
	{name: "gowork", files: gowork.Files},
	{name: "gomod", files: gomod.Files},
}
