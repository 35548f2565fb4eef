package component

// The processes share a laptop with an editor and a compiler. The Go runtime's
// settings keep them small; what they cost is measured in the benchmark beside
// the end-to-end tests, not guessed.
func runtime(gogc string) []string { return []string{"GOGC=" + gogc} }
