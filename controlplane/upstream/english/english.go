// Package english keeps kubectl from loading its translations. kubectl's
// packages translate their help texts while they are initialised, which in this
// binary would cost every component 80 ms and 4 MB at each start, for the sake
// of one that may never run.
package english

import "k8s.io/kubectl/pkg/util/i18n"

// This works because Go initialises, of the packages that are ready, the one
// whose path comes first in the alphabet: this one is before any of kubectl's.
func init() {
	// The error says that translations are loaded already: slower, not wrong.
	_ = i18n.SetLoadTranslationsFunc(func() error { return nil })
}
