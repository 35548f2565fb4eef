// Package informers keeps copies of what the API server holds, with client-go's
// shared informers: it reads from them, selects, reacts to changes and deletions,
// and lets go of them again.
package informers
