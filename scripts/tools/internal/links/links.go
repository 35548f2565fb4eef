// Package links proves that what the course's texts and checks point at inside
// the course exists: a file, a part of a lesson.
package links

import (
	"context"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

var (
	// [text](target), not an image of a badge, not in code.
	mdLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	code   = regexp.MustCompile("`[^`]*`")
	// What a check's See points at, from the chapter's folder.
	see = regexp.MustCompile(`"(README\.md#[^"\s]+)"`)
)

// Check follows the relative links of every Markdown file and the "README.md#…"
// of every Go file and chapter.yaml of a chapter.
func Check(ctx context.Context, r *repo.Repo) ([]repo.Finding, error) {
	files, err := r.Files(ctx)
	if err != nil {
		return nil, err
	}
	var found []repo.Finding
	for _, f := range files {
		pattern := see
		switch {
		case path.Ext(f) == ".md":
			pattern = mdLink
		case !strings.HasPrefix(f, "chapters/"):
			continue
		}
		data, err := os.ReadFile(r.Path(f))
		if err != nil {
			return nil, err
		}
		fenced := false
		for i, line := range strings.Split(string(data), "\n") {
			if pattern == mdLink {
				if strings.HasPrefix(strings.TrimLeft(line, "> "), "```") {
					fenced = !fenced
				}
				if fenced {
					continue
				}
				line = code.ReplaceAllString(line, "")
			}
			for _, m := range pattern.FindAllStringSubmatch(line, -1) {
				if why := broken(r, path.Dir(f), path.Base(f), m[1]); why != "" {
					found = append(found, repo.Finding{Path: f, Line: i + 1, Text: m[1] + ": " + why})
				}
			}
		}
	}
	return found, nil
}

// broken says why a target leads nowhere, "" if it leads somewhere.
func broken(r *repo.Repo, dir, self, target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return err.Error()
	}
	if u.Scheme != "" || u.Host != "" {
		return "" // the rest of the world is not ours to prove
	}
	file := path.Join(dir, self)
	if u.Path != "" {
		file = path.Join(dir, u.Path)
	}
	if _, err := os.Stat(r.Path(file)); err != nil {
		return "no such file"
	}
	if u.Fragment == "" || path.Ext(file) != ".md" {
		return ""
	}
	data, err := os.ReadFile(r.Path(file))
	if err != nil {
		return err.Error()
	}
	if !anchors(string(data))[u.Fragment] {
		return "no such heading in " + file
	}
	return ""
}
