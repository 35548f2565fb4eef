package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/grade"
	"github.com/controllings/controllings/runner/internal/report"
	"github.com/controllings/controllings/runner/internal/verdict"
)

func (a *app) gradeCommand() *cobra.Command {
	var f gradeFlags
	cmd := &cobra.Command{
		Use:   "grade [CHAPTER…] [--submission DIR] [--format FORMAT] [--output FILE]",
		Short: "For CI: grade somebody's chapters",
		Long: `Grade the chapters named, or all. A submission is a tree shaped like the course,
DIR/chapters/NN-topic. Of it are taken the files that chapter.yaml lists and the
Go files that were added; checks, lesson, versions and all else come from this
checkout. Without --submission, this checkout is graded.

Exit codes: 0 all required checks passed, 1 some did not, 2 something could not
be judged, or a required check was skipped, 130 Ctrl-C.

With --output, FILE exists from the start and says that it is not finished; it is
whole at any moment, also after a kill. What is in it then goes to no terminal:
stdout shows the text.

A submission's code runs as you. CONTRIBUTING.md says how to grade the code of
strangers.`,
		Example: `  lab grade 1 --submission ../ada --format json --output ada-1.json
  lab grade --format github`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.schema {
				_, err := io.WriteString(a.Stdout, report.Schema)
				return err
			}
			return a.grade(cmd, args, f)
		},
	}
	cmd.Flags().StringVar(&f.submission, "submission", "", "a tree shaped like the course (default: this checkout)")
	cmd.Flags().StringVar(&f.format, "format", "text", "text, json, junit or github")
	cmd.Flags().StringVar(&f.output, "output", "", "write the result to this file instead of stdout")
	cmd.Flags().BoolVar(&f.schema, "schema", false, "print the JSON Schema of --format json, and grade nothing")
	return cmd
}

type gradeFlags struct {
	submission, format, output string
	schema                     bool
}

func (a *app) grade(cmd *cobra.Command, args []string, f gradeFlags) error {
	format, err := report.ParseFormat(f.format)
	if err != nil {
		return err
	}
	var file *grade.File
	if f.output != "" {
		if file, err = grade.NewFile(f.output); err != nil {
			return err
		}
	}
	write := func(g *verdict.Grade) error {
		data, err := report.Grade(format, g)
		if err == nil {
			err = file.Write(data)
		}
		return err
	}
	o, err := a.gradeOptions(args, f)
	if err != nil {
		if file != nil { // whoever reads it learns why there is no grade
			return errors.Join(err, write(grade.None(err)))
		}
		return err
	}
	style := report.StyleFor(a.Stdout)
	shown := file != nil || format == report.AsText
	if shown {
		follow(a.Stdout, style, &o)
	}
	var unwritten error
	if file != nil {
		o.Changed = func(g *verdict.Grade) { unwritten = write(g) } // what counts is the last
	}
	g := grade.Run(cmd.Context(), o)
	if shown {
		report.Total(a.Stdout, style, g)
	} else {
		data, err := report.Grade(format, g)
		if err != nil {
			return err
		}
		if _, err := a.Stdout.Write(data); err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
	}
	if format == report.AsGitHub {
		if err := appendSummary(os.Getenv("GITHUB_STEP_SUMMARY"), report.Summary(g)); err != nil {
			a.status("no summary on the job's page: " + err.Error()) // the verdict stands without it
		}
	}
	if unwritten != nil {
		return unwritten
	}
	if code := g.Exit(); code != verdict.ExitPassed {
		return judged{code}
	}
	return nil
}

// gradeOptions say what to grade, and on which cluster.
func (a *app) gradeOptions(args []string, f gradeFlags) (o grade.Options, err error) {
	c, chapters, err := a.chapters(args)
	if err != nil {
		return o, err
	}
	for _, ch := range chapters {
		if !slices.ContainsFunc(o.Chapters, func(has *course.Chapter) bool { return has.ID == ch.ID }) {
			o.Chapters = append(o.Chapters, ch)
		}
	}
	if f.submission == "" {
		f.submission = c.Root
	}
	if o.Submission, err = filepath.Abs(f.submission); err != nil {
		return o, fmt.Errorf("find the submission: %w", err)
	}
	o.Course, o.Single, o.Status = c, len(args) == 1, a.status
	o.Cluster, err = a.judgeCluster(c)
	return o, err
}

// follow shows each chapter as it comes.
func follow(w io.Writer, style report.Style, o *grade.Options) {
	var t *report.Text
	first := true
	o.Begin = func(r *verdict.Result) {
		if !first {
			fmt.Fprintln(w)
		}
		first = false
		t = report.GradeText(w, style, r)
		t.Begin(r)
	}
	o.Check = func(c verdict.Check) { t.Check(c) }
	o.End = func(r *verdict.Result) {
		if r.Error == nil {
			t.End(r)
			t = nil
			return
		}
		if t == nil {
			if !first {
				fmt.Fprintln(w)
			}
			first = false
			t = report.GradeText(w, style, r)
		}
		t.NotJudged(r)
		t = nil
	}
}

// appendSummary adds to the file that GitHub shows on a job's page; "" is none.
func appendSummary(path string, data []byte) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
