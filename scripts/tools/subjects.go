package main

import (
	"context"
	"fmt"

	"github.com/controllings/controllings/scripts/tools/internal/benches"
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
	"github.com/controllings/controllings/scripts/tools/internal/workflows"
)

// A subject is what scripts/verify/NAME proves, and scripts/update/NAME mends
// where a program can. It has either files (generated: verify compares, update
// writes) or a check.
type subject struct {
	name   string
	files  func(context.Context, *repo.Repo) ([]repo.File, error)
	keep   bool // a file may be a learner's work: keep a copy of what is overwritten
	check  func(context.Context, *repo.Repo) ([]repo.Finding, error)
	update func(context.Context, *repo.Repo) error // with check; nil: nothing to run
	mend   string                                  // what to do when the check objects
}

func (s subject) updates() bool { return s.files != nil || s.update != nil }

// subjects in the order in which they are worth knowing: cheap ones first, and
// what others build on before them.
var subjects = []subject{
	{name: "words", check: words.Check, mend: "say it without the folder: relative to the repository, or with a placeholder"},
	{name: "shell", check: shell.Check, mend: "mend the scripts"},
	{name: "workflows", check: workflows.Check, mend: "mend the workflow; each line names the rule of actionlint"},
	{name: "tools", check: tools, mend: "mend the program or its test"},
	{name: "gowork", files: gowork.Files},
	{name: "gomod", files: gomod.Files},
	{name: "versions", check: versions.Check, mend: "change " + versions.File + " or the go.mod named above, then run scripts/update/gomod"},
	{name: "stubs", files: stubs.Files, keep: true},
	{name: "steps", check: steps.Check, mend: "give the lesson, the stub, the check and its hints one number: see CONTRIBUTING.md"},
	{name: "links", check: links.Check, mend: "mend the link, or the heading that it names"},
	{name: "crossbuild", check: crossbuild.Check, mend: "keep what only one system has in files named for it (x_linux.go), with an answer for the others"},
	{name: "benches", check: benches.Check, update: benches.Write, mend: "scripts/update/benches writes them from bench.json; make bench-N measures anew"},
	{name: "lint", check: lint.Check, update: lint.Format, mend: "mend what it says; scripts/update/lint formats"},
	{name: "lessons", files: lessons.Files},
}

// tools runs the tests of the programs behind these scripts, and of those that the
// node image is built with.
func tools(ctx context.Context, r *repo.Repo) ([]repo.Finding, error) {
	var found []repo.Finding
	for dir, packages := range map[string]string{"scripts/tools": "./...", "scripts/node-image": "./archive"} {
		out, err := repo.Go(ctx, r.Path(dir), "test", packages)
		fmt.Printf("%s", out)
		if err != nil {
			found = append(found, repo.Finding{Path: dir, Text: err.Error()})
		}
	}
	return found, nil
}
