package proxy

import (
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writeStatus answers with an error in the form of the API server: whoever reads
// it finds an apierrors.StatusError. JSON is right for every client, since an
// answer names its own type.
func writeStatus(w http.ResponseWriter, s *metav1.Status) (n int) {
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	s.Status = metav1.StatusFailure
	body, err := json.Marshal(s)
	if err != nil { // plain data; it can't be
		panic(err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache, private")
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		h.Set("Retry-After", strconv.Itoa(int(s.Details.RetryAfterSeconds)))
	}
	w.WriteHeader(int(s.Code))
	n, _ = w.Write(append(body, '\n')) // a client that has gone away is no matter
	return n
}
