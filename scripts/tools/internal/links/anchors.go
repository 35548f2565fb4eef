package links

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

var (
	heading = regexp.MustCompile(`^(?:> ?)*#{1,6}\s+(.*?)\s*#*$`)
	named   = regexp.MustCompile(`<a\s+(?:id|name)="([^"]+)"`)
	link    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// anchors returns the fragments that a Markdown text offers: the slugs of its
// headings, as code hosts make them, and its <a id="…">.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	count := map[string]int{}
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, "> "), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			found[m[1]] = true
		}
		m := heading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		s := slug(m[1])
		if n := count[s]; n > 0 {
			found[fmt.Sprintf("%s-%d", s, n)] = true
		} else {
			found[s] = true
		}
		count[s]++
	}
	return found
}

// slug keeps letters, digits, hyphens and underscores, in lower case, with a
// hyphen for each space.
func slug(heading string) string {
	heading = link.ReplaceAllString(heading, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
