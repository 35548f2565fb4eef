package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// run does what one script does, or all of them.
func run(ctx context.Context, r *repo.Repo, verb, name string) error {
	if verb != "verify" && verb != "update" {
		return fmt.Errorf("usage: run verify|update SUBJECT|all; subjects: %s", names())
	}
	if name == "all" {
		return all(ctx, r, verb)
	}
	for _, s := range subjects {
		if s.name == name {
			return s.run(ctx, r, verb)
		}
	}
	return fmt.Errorf("no subject %q: there are %s", name, names())
}

// all runs each subject, those after a failure too, and closes with the counts.
func all(ctx context.Context, r *repo.Repo, verb string) error {
	var failed []string
	ran := 0
	for _, s := range subjects {
		if verb == "update" && !s.updates() {
			continue
		}
		ran++
		fmt.Printf("%s %s\n", verb, s.name)
		start := time.Now()
		err := s.run(ctx, r, verb)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		mark := "✓"
		if err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			failed = append(failed, s.name)
			mark = "✗"
		}
		fmt.Printf("%s %s %s (%.1f s)\n", mark, verb, s.name, time.Since(start).Seconds())
	}
	fmt.Printf("\n%s: %d passed, %d failed\n", verb, ran-len(failed), len(failed))
	if len(failed) > 0 {
		return fmt.Errorf("%s: %s", verb, strings.Join(failed, ", "))
	}
	return nil
}

// run verifies or updates one subject.
func (s subject) run(ctx context.Context, r *repo.Repo, verb string) error {
	if verb == "update" {
		return s.write(ctx, r)
	}
	found, err := s.find(ctx, r)
	if err != nil || len(found) == 0 {
		return err
	}
	for _, f := range found {
		fmt.Fprintln(os.Stderr, f)
	}
	if s.files != nil {
		return errors.New("run scripts/update/" + s.name)
	}
	return errors.New(s.mend)
}

func (s subject) find(ctx context.Context, r *repo.Repo) ([]repo.Finding, error) {
	if s.check != nil {
		return s.check(ctx, r)
	}
	files, err := s.files(ctx, r)
	if err != nil {
		return nil, err
	}
	return r.Drift(files)
}

func (s subject) write(ctx context.Context, r *repo.Repo) error {
	switch {
	case s.update != nil:
		return s.update(ctx, r)
	case s.files == nil:
		return fmt.Errorf("nothing is generated for %s: there is only scripts/verify/%s", s.name, s.name)
	}
	files, err := s.files(ctx, r)
	if err != nil {
		return err
	}
	if s.keep {
		if err := r.Keep(ctx, os.Stdout, files); err != nil {
			return err
		}
	}
	return r.Write(os.Stdout, files)
}

func names() string {
	var n []string
	for _, s := range subjects {
		n = append(n, s.name)
	}
	return strings.Join(n, ", ")
}
