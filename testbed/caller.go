package testbed

import (
	"net/http"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/controllings/controllings/testbed/proxy"
)

// tellCaller lets each request say which line of the learner's code sent it, so
// that a failure can point there. It works as long as the request is sent on the
// goroutine that asked for it, which client-go's clients do.
func tellCaller(next http.RoundTripper) http.RoundTripper {
	return wrapped{next, func(r *http.Request) *http.Request {
		if at := callerOf(); at != "" {
			r = r.Clone(r.Context()) // a RoundTripper must leave its request alone
			r.Header.Set(proxy.CallerHeader, at)
		}
		return r
	}}
}

// callerOf finds the innermost line of a chapter's code on the stack, as
// "path/clientset.go:41".
func callerOf() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		if inChapter(frame.Function) && !strings.HasSuffix(frame.File, "_test.go") {
			return frame.File + ":" + strconv.Itoa(frame.Line)
		}
		if !more {
			return ""
		}
	}
}

// inChapter reports whether a function is of a chapter's or a solution's module,
// by its name: the file's folder is the stage's.
func inChapter(function string) bool {
	rest, ok := strings.CutPrefix(function, "github.com/controllings/controllings/")
	return ok && (strings.HasPrefix(rest, "chapters/") || strings.HasPrefix(rest, "solutions/"))
}

// place is the line of the learner's code that sent the last request, if known.
func place(requests []proxy.Request) (file string, line int) {
	for i := len(requests) - 1; i >= 0; i-- {
		if at := requests[i].Caller; at != "" {
			colon := strings.LastIndexByte(at, ':')
			if colon < 0 {
				continue
			}
			line, _ = strconv.Atoi(at[colon+1:])
			return filepath.FromSlash(at[:colon]), line
		}
	}
	return "", 0
}
