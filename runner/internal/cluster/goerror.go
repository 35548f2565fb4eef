package cluster

import (
	"context"
	"strings"

	"github.com/controllings/controllings/runner/internal/hint"
)

// goError is a failure of the go command with what it said.
type goError struct {
	err    error
	output []string
}

func (e *goError) Error() string {
	if len(e.output) == 0 {
		return e.err.Error()
	}
	return strings.Join(e.output, "\n")
}

func (e *goError) Unwrap() error { return e.err }

// causes of a failed build, by what the go command says, and what to do.
var causes = []struct {
	words []string
	what  string
	hint  string
}{
	{
		[]string{"no space left on device", "disk quota exceeded"},
		"the disk is full",
		"the build needs about 6 GB: free some, or move Go's caches to a bigger disk (export GOCACHE=… GOMODCACHE=… GOTMPDIR=…); what is built is kept, it goes on where it stopped",
	},
	{
		[]string{"dial tcp", "no such host", "i/o timeout", "connection refused", "proxyconnect", "tls handshake timeout", "network is unreachable", "x509: certificate signed by unknown authority"},
		"modules can't be fetched",
		"the first build needs a Go module proxy: see that the network is up, or name one that you can reach: go env -w GOPROXY=https://…",
	},
	{
		[]string{"checksum mismatch", "security error"},
		"a fetched module is not what go.sum says",
		"do not go on: clear it with go clean -modcache, and ask whoever runs your module proxy if it happens again",
	},
	{
		[]string{"go.mod requires go >=", "toolchain not available"},
		"this Go is too old",
		"install the Go version named above from https://go.dev/dl/",
	},
	{
		[]string{"signal: killed", "cannot allocate memory", "out of memory"},
		"not enough memory",
		"the build needs about 4 GB: close some programs, then try again; what is built is kept",
	},
	{
		[]string{"permission denied", "read-only file system"},
		"a folder can't be written",
		"see that you own Go's caches: go env GOCACHE GOMODCACHE",
	},
}

// failed explains a failed build.
func (b builder) failed(ctx context.Context, err error) error {
	return explainBuild(ctx, "the control plane", "if you changed controlplane/, look there first: cd controlplane && GOWORK=off go build", err)
}

// explainBuild explains a failed build of what; otherwise is the hint where the
// cause is none that is known.
func explainBuild(ctx context.Context, what, otherwise string, err error) error {
	if ctx.Err() != nil {
		return hint.New("run it again: it goes on where it stopped", "build %s: interrupted: %w", what, context.Cause(ctx))
	}
	text := strings.ToLower(err.Error())
	for _, c := range causes {
		for _, w := range c.words {
			if strings.Contains(text, w) {
				return hint.New(c.hint, "build %s: %s: %w", what, c.what, err)
			}
		}
	}
	return hint.New(otherwise, "build %s: %w", what, err)
}
