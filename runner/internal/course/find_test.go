package course

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/runner/internal/hint"
)

func TestFindCheck(t *testing.T) {
	ch := &Chapter{Number: 1, Checks: []Check{{Test: "TestHello", Step: "1.1"}, {Test: "TestListsPods", Step: "1.10"}}}
	for name, want := range map[string]string{
		"1.1": "TestHello", "1.10": "TestListsPods", "TestHello": "TestHello", "hello": "TestHello", "testlistspods": "TestListsPods",
	} {
		c, err := ch.FindCheck(name)
		require.NoError(t, err, name)
		assert.Equal(t, want, c.Test)
	}
	for name, want := range map[string]string{
		"": "the steps are 1.1, 1.10", "1": "the steps are 1.1, 1.10", "Test": "the steps are", "TestHallo": "did you mean TestHello, step 1.1? the steps are",
		"nothing like it": "the steps are 1.1, 1.10",
	} {
		_, err := ch.FindCheck(name)
		require.Error(t, err, name)
		assert.Contains(t, hint.Of(err), want)
	}
}
