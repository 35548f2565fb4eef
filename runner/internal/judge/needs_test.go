package judge

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/runner/internal/cluster"
	"github.com/controllings/controllings/runner/internal/course"
)

// Each word of chapter.yaml is one that a cluster can know, and the cluster that
// comes with the course can do it all.
func TestNeedsAreWhatClustersCanDo(t *testing.T) {
	p, err := cluster.Open(cluster.Options{Root: t.TempDir()})
	require.NoError(t, err)
	on := On(p, nil, t.TempDir())
	assert.ElementsMatch(t, course.Needs, on.Can)
	assert.NotEmpty(t, on.Control)
	assert.NotNil(t, on.Restore)
	assert.Empty(t, on.lacks(&course.Check{Needs: course.Needs}))
	for _, n := range course.Needs {
		assert.Equal(t, []string{n}, Cluster{}.lacks(&course.Check{Needs: []string{n}}))
		assert.NotContains(t, cant("kind", []string{n}), "can't ,", "a need without words")
	}
}

func TestOnlyACheckWithNeedsLearnsOfTheControlFile(t *testing.T) {
	e := environment{Kubeconfig: "/k", Home: "/h", Factor: 1}
	user := []string{"LAB_CONTROL=/of/the/user"}
	has := func(env []string) bool {
		return slices.ContainsFunc(env, func(v string) bool { return len(v) >= 11 && v[:11] == "LAB_CONTROL" })
	}
	assert.False(t, has(e.list(user, "/private")))
	e.Control = "/home/control"
	assert.Contains(t, e.list(user, "/private"), "LAB_CONTROL=/home/control")
	assert.NotContains(t, e.list(user, "/private"), "LAB_CONTROL=/of/the/user")
}
