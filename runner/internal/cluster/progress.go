package cluster

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

// isPackage reports whether a line of "go build -v" is the name of a package.
func isPackage(l string) bool {
	return l != "" && !strings.ContainsAny(l, " \t:#")
}

// isFetch reports whether a line of the go command tells of a download.
func isFetch(l string) bool { return strings.HasPrefix(l, "go: downloading ") }

// expect estimates how long a build of n packages takes. All of Kubernetes,
// some 2800 packages, takes about 23 minutes of one core.
func expect(n int) time.Duration {
	const perPackage = 500 * time.Millisecond
	cores := min(runtime.NumCPU(), 8) // beyond, it is the chain of imports that counts
	return time.Duration(n) * perPackage / time.Duration(cores)
}

// progress tells a person how far the build is. On a terminal it rewrites one
// line, twice a second; anywhere else it prints a line every ten seconds.
type progress struct {
	w     io.Writer
	tty   bool
	every time.Duration
	now   func() time.Time

	mu       sync.Mutex
	modules  int // fetched
	done     int // packages
	total    int
	guess    time.Duration // for all, before there is anything to measure
	began    time.Time
	building bool
	shown    bool // a line is there to be rewritten
	quit     chan struct{}
	over     chan struct{}
}

func newProgress(w io.Writer, every time.Duration) *progress {
	p := &progress{w: w, every: every, now: time.Now, quit: make(chan struct{}), over: make(chan struct{})}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.tty = err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	}
	if p.tty {
		p.every = 500 * time.Millisecond
	}
	go p.loop()
	return p
}

func (p *progress) loop() {
	defer close(p.over)
	t := time.NewTicker(p.every)
	defer t.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-t.C:
			p.mu.Lock()
			p.show()
			p.mu.Unlock()
		}
	}
}

// stop ends the display; what is on the terminal's line goes.
func (p *progress) stop() {
	close(p.quit)
	<-p.over
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// say prints a line that stays.
func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.w, format+"\n", args...)
}

func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// moduleFetched takes a line of the go command while it lists packages.
func (p *progress) moduleFetched(l string) {
	if isFetch(l) {
		p.mu.Lock()
		p.modules++
		p.mu.Unlock()
	}
}

// packageBuilt takes a line of "go build -v".
func (p *progress) packageBuilt(l string) {
	p.moduleFetched(l)
	if isPackage(l) {
		p.mu.Lock()
		p.done++
		p.mu.Unlock()
	}
}

// begin starts the building proper. A long one is announced.
func (p *progress) begin(total int, guess time.Duration) {
	if guess > time.Minute {
		p.say("this happens once and takes about %d minutes on %d cores. Meanwhile, open chapters/01-clientset/README.md.", int(guess.Minutes()+0.5), runtime.NumCPU())
		p.say("Ctrl-C is safe: next time it goes on where it stopped.")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.guess, p.began, p.building = total, guess, p.now(), true
}

// end says how long it took.
func (p *progress) end() {
	p.say("Kubernetes is built (%s)", round(p.now().Sub(p.began)))
}

func (p *progress) show() {
	var text string
	switch {
	case p.building:
		text = p.text(p.now())
	case p.modules > 0:
		text = fmt.Sprintf("fetched %d modules", p.modules)
	default:
		return
	}
	if p.tty {
		fmt.Fprint(p.w, "\r\x1b[K"+text)
		p.shown = true
		return
	}
	fmt.Fprintln(p.w, text)
}

// text is the line of progress.
func (p *progress) text(now time.Time) string {
	if p.done >= p.total-1 { // the last is the program itself
		return fmt.Sprintf("%d of %d packages built; linking them, usually half a minute", min(p.done, p.total), p.total)
	}
	return fmt.Sprintf("%d of %d packages built (%d%%), about %s left", p.done, p.total, 100*p.done/p.total, round(p.left(now)))
}

// left is the time left: what was measured counts the more, the further the
// build is. The first packages are small and quick, and alone would promise too
// much.
func (p *progress) left(now time.Time) time.Duration {
	share := float64(p.done) / float64(p.total)
	rest := time.Duration(float64(p.guess) * (1 - share))
	if p.done == 0 {
		return max(rest-now.Sub(p.began), time.Second)
	}
	measured := time.Duration(float64(now.Sub(p.began)) * (1 - share) / share)
	return time.Duration(share*float64(measured) + (1-share)*float64(rest))
}

// round makes a duration one that a person would say.
func round(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()+0.5))
	case d < 10*time.Minute:
		d = d.Round(10 * time.Second)
		if s := int(d.Seconds()) % 60; s != 0 {
			return fmt.Sprintf("%d min %d s", int(d.Minutes()), s)
		}
	}
	return fmt.Sprintf("%d min", int(d.Minutes()+0.5))
}
