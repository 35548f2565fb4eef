package endpoint

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
)

// mark is a header of every answer: a client that gets another talks to whoever
// has the port now.
const mark = "Controllings-Control"

// guard lets nobody through who is not meant.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(mark, "1")
		switch {
		case r.Host != s.address || r.Header.Get("Origin") != "":
			// A web page whose name was made to lead here (DNS rebinding), or one
			// that tries the address.
			fail(w, &Error{Code: http.StatusForbidden, Err: errors.New("this is not for browsers"), Hint: "ask at http://" + s.address})
		case !s.knows(r):
			fail(w, &Error{Code: http.StatusUnauthorized, Err: errors.New("the token is missing or wrong"), Hint: "it changes with each start of the cluster: read the file again"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (s *Server) knows(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	// Of equal length, so that the comparison tells nothing about that either.
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && ok
}
