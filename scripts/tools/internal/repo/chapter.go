package repo

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

// Chapter is what verify scripts need of a chapter.yaml.
type Chapter struct {
	Name   string   `json:"-"` // 01-clientset
	Files  []string `json:"files"`
	Checks []struct {
		Test  string   `json:"test"`
		Step  string   `json:"step"`
		Hints []string `json:"hints"`
	} `json:"checks"`
}

// Chapter reads chapters/NAME/chapter.yaml.
func (r *Repo) Chapter(name string) (Chapter, error) {
	c := Chapter{Name: name}
	data, err := os.ReadFile(r.Path("chapters", name, "chapter.yaml"))
	if err != nil {
		return c, err
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("chapters/%s/chapter.yaml: %w", name, err)
	}
	return c, nil
}
