// Package progress keeps what the runner has to remember about a learner, in
// one plain text file.
package progress

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const head = `# What lab remembers about your way through the course. One fact a line:
#   solution CHAPTER   you chose to see this chapter's solution
# Delete a line, or the file, and lab forgets. Lines it does not know it keeps.
`

// State is what is remembered.
type State struct {
	path  string
	lines []string
}

// Load reads the state kept in home. None yet is an empty one.
func Load(home string) (*State, error) {
	s := &State{path: filepath.Join(home, "progress")}
	data, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what lab remembers: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			s.lines = append(s.lines, line)
		}
	}
	return s, nil
}

// SolutionSeen says whether the learner chose to see a chapter's solution.
func (s *State) SolutionSeen(chapter string) bool { return s.has("solution " + chapter) }

// SetSolutionSeen remembers it. The file is replaced by a rename, so that a kill
// at any moment leaves the old state or the new one.
func (s *State) SetSolutionSeen(chapter string) error {
	if s.SolutionSeen(chapter) {
		return nil
	}
	s.lines = append(s.lines, "solution "+chapter)
	return s.save()
}

func (s *State) has(fact string) bool {
	for _, line := range s.lines {
		if line == fact || strings.HasPrefix(line, fact+" ") {
			return true
		}
	}
	return false
}

func (s *State) save() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("write what lab remembers: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), "progress-*")
	if err != nil {
		return fmt.Errorf("write what lab remembers: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(head + strings.Join(s.lines, "\n") + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.path)
	}
	if err != nil {
		return fmt.Errorf("write what lab remembers: %w", err)
	}
	return nil
}
