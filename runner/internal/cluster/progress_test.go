package cluster

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestProgressText(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		done, total int
		guess, ran  time.Duration
		want        string
	}{
		"nothing yet: the guess":      {0, 1000, 10 * time.Minute, time.Minute, "0 of 1000 packages built (0%), about 9 min left"},
		"as guessed":                  {500, 1000, 10 * time.Minute, 5 * time.Minute, "500 of 1000 packages built (50%), about 5 min left"},
		"slower, halfway: in between": {500, 1000, 10 * time.Minute, 15 * time.Minute, "500 of 1000 packages built (50%), about 10 min left"},
		"nearly done: as measured":    {900, 1000, 10 * time.Minute, 18 * time.Minute, "900 of 1000 packages built (90%), about 1 min 50 s left"},
		"the link":                    {1000, 1000, 10 * time.Minute, 9 * time.Minute, "1000 of 1000 packages built; linking them, usually half a minute"},
		"more than was counted":       {1001, 1000, 10 * time.Minute, 9 * time.Minute, "1000 of 1000 packages built; linking them, usually half a minute"},
		"longer than guessed":         {0, 1000, time.Minute, 2 * time.Minute, "0 of 1000 packages built (0%), about 1 s left"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &progress{done: c.done, total: c.total, guess: c.guess, began: began}
			if got := p.text(began.Add(c.ran)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestProgressCountsWhatTheGoCommandSays(t *testing.T) {
	var said strings.Builder
	p := newProgress(&said, time.Hour)
	p.moduleFetched("go: downloading k8s.io/api v0.37.2")
	p.moduleFetched("go: finding something")
	p.begin(2, time.Hour)
	for _, l := range []string{"k8s.io/api/core/v1", "", "# k8s.io/api", "x.go:1:2: oops", "encoding/json"} {
		p.packageBuilt(l)
	}
	p.stop()
	if p.modules != 1 || p.done != 2 {
		t.Errorf("modules %d, packages %d; want 1 and 2", p.modules, p.done)
	}
	for _, want := range []string{"this happens once", "about 60 minutes", "Ctrl-C is safe", "README.md"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %q in %q", want, said.String())
		}
	}
}

func TestAShortBuildIsNotAnnounced(t *testing.T) {
	var said strings.Builder
	p := newProgress(&said, time.Hour)
	p.begin(3, time.Second)
	p.stop()
	if said.String() != "" {
		t.Errorf("it said %q", said.String())
	}
}

// Where nobody rewrites lines, one comes now and then.
func TestProgressWithoutATerminal(t *testing.T) {
	said := &buffer{}
	p := newProgress(said, time.Millisecond)
	p.begin(10, time.Second)
	within, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	until(within, func() bool { return strings.Count(said.String(), "\n") >= 2 })
	p.stop()
	if got := said.String(); strings.Count(got, "0 of 10 packages built") < 2 || strings.ContainsAny(got, "\r\x1b") {
		t.Errorf("it said %q", got)
	}
}

func TestRound(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 59*time.Second + 400*time.Millisecond: "59 s",
		time.Minute: "1 min", 94 * time.Second: "1 min 30 s", 11*time.Minute + 40*time.Second: "12 min",
	} {
		if got := round(d); got != want {
			t.Errorf("round(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestKubernetesVersion(t *testing.T) {
	for in, want := range map[string]string{
		"require (\n\tk8s.io/kubectl v0.37.2\n\tk8s.io/kubernetes v1.37.2\n)": "v1.37.2",
		"require k8s.io/kubernetes v1.37.2 // indirect":                       "v1.37.2",
		"replace k8s.io/kubernetes => ../x":                                   "",
		"":                                                                    "",
	} {
		if got := kubernetesVersion([]byte(in)); got != want {
			t.Errorf("kubernetesVersion(%q) = %q, want %q", in, got, want)
		}
	}
}
