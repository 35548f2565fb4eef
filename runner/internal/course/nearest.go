package course

// nearest is the word of known that a typo most likely meant, or "".
func nearest(word string, known []string) string {
	best, at := "", 3 // three edits away is another word
	for _, k := range known {
		if d := distance(word, k); d < at && d < len(k) {
			best, at = k, d
		}
	}
	return best
}

// distance counts the letters to add, drop or change from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
