package words

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScan(t *testing.T) {
	// Put together here, so that this file doesn't name one.
	for text, bad := range map[string]bool{
		"see /ro" + "ot/go/pkg":                    true,
		"`/ho" + "me/ada/course`":                  true,
		"dir=/Us" + "ers/ada/course":               true,
		"(/wo" + "rk/main)":                        true,
		"https://example.com/wo" + "rk/main":       false,
		"chapters/wo" + "rk/main":                  false,
		"$HOME/wo" + "rk/main":                     false,
		"~/wo" + "rk/main":                         false,
		"/var/run/secrets":                         false,
		"bin\x00ary /ro" + "ot/go":                 false,
		"/wo" + "rk on it, /ro" + "ot of the tree": false,
	} {
		require.Equal(t, bad, len(scan("f", []byte(text))) > 0, text)
	}
}
