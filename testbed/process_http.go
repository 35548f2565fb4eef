package testbed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxAnswer bounds what Get reads, in bytes.
const maxAnswer = 16 << 20

// probes is the client of Get. It keeps no connection, which would count as work
// under way when the process shuts down, and asks no proxy of the environment's.
var probes = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Get asks the process at one of its addresses, by plain HTTP: the X of an
// {address:X} in its arguments, and a path such as "/readyz". A time limit comes
// from ctx. An error says that there was no whole answer; any status is one.
func (p *Process) Get(ctx context.Context, x, path string) (status int, body string, err error) {
	address := p.Address(x)
	if address == "" {
		return 0, "", fmt.Errorf("process %s has no {address:%s} or {port:%s} in its arguments", p.name, x, x)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return 0, "", err
	}
	answer, err := probes.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if len(text) > maxAnswer {
		err = errors.Join(err, fmt.Errorf("GET %s: more than %d bytes", path, maxAnswer))
	}
	return answer.StatusCode, string(text), err
}

// Ready is a Condition: the readiness probe, /readyz at {address:health}, answers
// 200.
func (p *Process) Ready(ctx context.Context) (bool, string) { return p.probe(ctx, "/readyz") }

// Healthy is a Condition: the liveness probe, /healthz at {address:health},
// answers 200.
func (p *Process) Healthy(ctx context.Context) (bool, string) { return p.probe(ctx, "/healthz") }

// probeTimeout is how long an answer to a probe may take: a kubelet's default.
const probeTimeout = time.Second

func (p *Process) probe(ctx context.Context, path string) (bool, string) {
	if p.hasEnded() {
		return false, p.String()
	}
	ctx, cancel := context.WithTimeout(ctx, Scale(probeTimeout))
	defer cancel()
	status, body, err := p.Get(ctx, "health", path)
	if err != nil {
		return false, fmt.Sprintf("process %s: %v", p.name, err)
	}
	body, _, _ = strings.Cut(strings.TrimSpace(body), "\n")
	return status == http.StatusOK, fmt.Sprintf("process %s: GET %s   %d  %s", p.name, path, status, body)
}

// WaitReady is Eventually for Ready, but doesn't wait for a process that has
// ended.
func (p *Process) WaitReady(within time.Duration, f Fail) {
	b := p.bed
	b.t.Helper()
	within = Scale(within)
	start, ready := time.Now(), false
	_, seen := b.poll(within, func(ok bool) bool {
		ready = ok
		return ok || p.hasEnded()
	}, p.Ready)
	if ready {
		return
	}
	b.mustAnswer()
	f.Seen = lines(f.Seen, fmt.Sprintf("after %s: %s", round(time.Since(start)), seen))
	b.Fail(f)
}
