// Package grade judges chapters of a submission: somebody's own files out of a
// tree of theirs, with all else from this checkout of the course.
//
// A grade fails closed, like a verdict. What is not finished, not there or not to
// be judged is an error, and never passed.
package grade

import (
	"context"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/judge"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// Options say what to grade.
type Options struct {
	Course   *course.Course
	Chapters []*course.Chapter
	// Submission is a tree shaped like the course: Submission/chapters/NN-topic.
	Submission string
	// Single says that one chapter was asked for, by its name.
	Single  bool
	Cluster judge.Cluster

	// Begin, Check and End follow each chapter, in order: when its checks start,
	// for each check, and when it has ended. Begin and Check are not called for a
	// chapter that could not be judged. nil = nobody looks.
	Begin func(*verdict.Result)
	Check func(verdict.Check)
	End   func(*verdict.Result)
	// Changed gets the whole grade as it grows: before the first check, after
	// each, and at the end. Until then its Error says that it is not finished.
	Changed func(*verdict.Grade)
	// Status gets short lines on what takes long.
	Status func(string)
}

const notFinished = "not finished"

// Run judges the chapters one after the other. One that can't be judged is an
// error of its own and does not keep the next from being judged. The grade is
// always whole: of an interrupted run, it says so.
func Run(ctx context.Context, o Options) *verdict.Grade {
	g := &verdict.Grade{Single: o.Single, Error: text(notFinished)}
	name := answer.FromSubmission(o.Submission)
	for _, ch := range o.Chapters {
		r := judge.Unjudged(ch, name)
		r.Error = text(notFinished)
		r.Settle()
		g.Chapters = append(g.Chapters, r)
	}
	o.changed(g)

	up := o.Cluster.Up
	var noCluster error
	o.Cluster.Up = func(ctx context.Context) (verdict.Cluster, error) {
		if noCluster != nil {
			return verdict.Cluster{}, noCluster // it does not come up for the next chapter either
		}
		info, err := up(ctx)
		noCluster = err
		return info, err
	}
	for i, ch := range o.Chapters {
		if ctx.Err() != nil {
			break
		}
		r, err := one(ctx, o, ch, name, func(r *verdict.Result) {
			g.Chapters[i] = r
			o.changed(g)
		})
		if ctx.Err() != nil {
			break // half a chapter is no verdict
		}
		if err != nil {
			r = judge.Unjudged(ch, name)
			r.Error = text(explain(err))
			r.Settle()
		}
		g.Chapters[i] = r
		o.changed(g)
		if o.End != nil {
			o.End(r)
		}
	}
	g.Error = nil
	if ctx.Err() != nil {
		g.Error = text("interrupted")
	}
	o.changed(g)
	return g
}

// None is the grade where there is nothing to judge, and why.
func None(err error) *verdict.Grade {
	g := &verdict.Grade{Error: text(explain(err)), Chapters: []*verdict.Result{}}
	g.Settle()
	return g
}

// one judges one chapter. grown gets what is known of it so far.
func one(ctx context.Context, o Options, ch *course.Chapter, name answer.Name, grown func(*verdict.Result)) (*verdict.Result, error) {
	// Before a cluster is started, or built, for nothing.
	if _, err := answer.Load(ctx, o.Course, ch, name); err != nil {
		return nil, err
	}
	soFar := judge.Unjudged(ch, name)
	soFar.Error = text(notFinished)
	told := 0
	r, _, err := judge.Run(ctx, judge.Options{
		Course: o.Course, Chapter: ch, Answer: name, Cluster: o.Cluster, Status: o.Status,
		Begin: func(r *verdict.Result) {
			soFar.Cluster = r.Cluster
			if o.Begin != nil {
				o.Begin(r)
			}
		},
		Done: func(c verdict.Check) {
			soFar.Checks[told] = c // they come in the chapter's order
			told++
			soFar.Settle()
			grown(soFar)
			if o.Check != nil {
				o.Check(c)
			}
		},
	})
	return r, err
}

func (o Options) changed(g *verdict.Grade) {
	g.Settle()
	if o.Changed != nil {
		o.Changed(g)
	}
}

// explain is an error and what to do about it.
func explain(err error) string {
	s := err.Error()
	if h := hint.Of(err); h != "" {
		s += "\nhint: " + h
	}
	return s
}

func text(s string) *string { return &s }
