package lessons

import (
	"regexp"
	"strings"
)

// masks are what differs from run to run.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?`), "<date>"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "<uid>"},
	{regexp.MustCompile(`(127\.0\.0\.1|localhost|\[::1\]):\d+`), "$1:<port>"},
	{regexp.MustCompile(`\bbed-[a-z0-9]+\b`), "bed-<name>"},
	{regexp.MustCompile(`-[a-z0-9]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b`), "-<hash>"}, // a Deployment's Pod
	{regexp.MustCompile(`(?i)(resourceVersion\W{1,3})\d+`), "$1<rv>"},
	{regexp.MustCompile(`\b(?:\d+(?:\.\d+)? ?(?:ns|µs|ms|s|m|min|h|d))+\b`), "<time>"},
	{regexp.MustCompile(`\b\d+(?:\.\d+)? ?(?:B|KB|KiB|kB|MB|MiB|GB|GiB)\b`), "<size>"},
	{regexp.MustCompile(`\s+`), " "}, // columns move with what is in them
}

// masked returns the lines with masks in place, without blank lines at either end.
func masked(lines []string) []string {
	var out []string
	for _, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		for _, m := range masks {
			line = m.pattern.ReplaceAllString(line, m.with)
		}
		out = append(out, line)
	}
	for len(out) > 0 && out[0] == "" {
		out = out[1:]
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}
