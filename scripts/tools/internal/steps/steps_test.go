package steps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/scripts/tools/internal/steps"
	"github.com/controllings/controllings/scripts/tools/internal/tree"
)

const good = `
-- chapters/02-informers/chapter.yaml --
files: [a.go, config/role.yaml]
checks:
  - {test: TestA, step: "2.1", hints: [Look at step 2.1 again.]}
  - {test: TestB, step: "2.2"}
-- chapters/02-informers/README.md --
> **Step 2.1 · One** (` + "`a.go`" + `)
### Step 2.2 · Two
See step 2.1.
-- chapters/02-informers/a.go --
// TODO(2.1): one
panic(todo.Step("2.1"))
-- chapters/02-informers/config/role.yaml --
# TODO(2.2): a rule
-- chapters/02-informers/a_test.go --
// TestA is about step 2.1.
func TestA(t *testing.T) {}
func TestB(t *testing.T) {}
`

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"all in step":                 {"", "", ""},
		"a step that is not told":     {"### Step 2.2", "### Part 2.2", "README.md: no **Step 2.2 · …**, and chapter.yaml checks it"},
		"a step that nothing checks":  {"See step", "**Step 2.3 · Three**", `README.md:3: step 2.3 has no check in chapter.yaml`},
		"a step told twice":           {"See step 2.1", "**Step 2.1 · Again**", "README.md:3: step 2.1 is told twice"},
		"another chapter's number":    {`step: "2.2"`, `step: "3.2"`, `chapter.yaml: TestB: step "3.2" is none of chapter 2`},
		"two checks of a step":        {`step: "2.2"`, `step: "2.1"`, "chapter.yaml: TestB: step 2.1 has a check already"},
		"a TODO that calls another":   {`todo.Step("2.1")`, `todo.Step("2.2")`, `a.go:1: TODO(2.1) without todo.Step("2.1")`},
		"a call without its TODO":     {"// TODO(2.1): one", "// one", `a.go:2: todo.Step("2.1") without TODO(2.1)`},
		"no TODO":                     {"# TODO(2.2): a rule", "", "chapter.yaml: step 2.2: no TODO(2.2) in a.go, config/role.yaml"},
		"a TODO of no step":           {"a rule", "a rule, TODO(2.9)", "config/role.yaml:1: step 2.9 is not in chapter.yaml"},
		"a check that isn't there":    {"func TestB(", "func TestC(", "chapter.yaml: step 2.2: no func TestB in a *_test.go"},
		"a check that names another":  {"is about step 2.1", "is about step 2.2", "a_test.go:1: TestA is step 2.1, its comment says 2.2"},
		"a hint that names another":   {"at step 2.1 again", "at step 2.2 again", "chapter.yaml: TestA: a hint of step 2.1 speaks of step 2.2"},
		"the lesson in another order": {"> **Step 2.1 · One** (`a.go`)\n### Step 2.2 · Two", "### Step 2.2 · Two\n**Step 2.1 · One**", "README.md: tells the steps in the order 2.2 2.1, chapter.yaml in 2.1 2.2"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, good, c.old)
			r := tree.New(t, strings.Replace(good, c.old, c.new, 1))
			found, err := steps.Check(t.Context(), r)
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, tree.Lines(found))
				return
			}
			require.Contains(t, tree.Lines(found), "chapters/02-informers/"+c.want)
		})
	}
}
