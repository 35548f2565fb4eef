package proxy

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wait waits out the rule's latency, and reports false if ctx ends first.
func (r Rule) wait(ctx context.Context) bool {
	if r.Latency <= 0 {
		return true
	}
	timer := time.NewTimer(r.Latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// answer is the error that the rule puts in place of an answer.
func (r Rule) answer(req Request) *metav1.Status {
	s := &metav1.Status{
		Code:    int32(r.Status),
		Reason:  r.Reason,
		Message: r.Message,
		Details: &metav1.StatusDetails{Group: req.Group, Kind: req.Resource, Name: req.Name},
	}
	if s.Reason == "" {
		s.Reason = reasons[r.Status]
		if r.Status == http.StatusConflict && req.Verb == "create" {
			s.Reason = metav1.StatusReasonAlreadyExists
		}
	}
	if s.Message == "" {
		s.Message = "the check put this answer in: " + http.StatusText(r.Status)
	}
	if s.Reason == metav1.StatusReasonExpired {
		s.Continue = inconsistent(req.Query.Get("continue"))
	}
	if r.RetryAfter > 0 {
		s.Details.RetryAfterSeconds = int32((r.RetryAfter + time.Second - 1) / time.Second)
	}
	return s
}

// reasons are those that the API server gives with a status.
var reasons = map[int]metav1.StatusReason{
	http.StatusBadRequest:            metav1.StatusReasonBadRequest,
	http.StatusUnauthorized:          metav1.StatusReasonUnauthorized,
	http.StatusForbidden:             metav1.StatusReasonForbidden,
	http.StatusNotFound:              metav1.StatusReasonNotFound,
	http.StatusMethodNotAllowed:      metav1.StatusReasonMethodNotAllowed,
	http.StatusNotAcceptable:         metav1.StatusReasonNotAcceptable,
	http.StatusConflict:              metav1.StatusReasonConflict,
	http.StatusGone:                  metav1.StatusReasonExpired,
	http.StatusRequestEntityTooLarge: metav1.StatusReasonRequestEntityTooLarge,
	http.StatusUnsupportedMediaType:  metav1.StatusReasonUnsupportedMediaType,
	http.StatusUnprocessableEntity:   metav1.StatusReasonInvalid,
	http.StatusTooManyRequests:       metav1.StatusReasonTooManyRequests,
	http.StatusInternalServerError:   metav1.StatusReasonInternalError,
	http.StatusServiceUnavailable:    metav1.StatusReasonServiceUnavailable,
	http.StatusGatewayTimeout:        metav1.StatusReasonTimeout,
}

// inconsistent is the token that the API server sends along when a list's own has
// expired: it goes on at the same key, but in the collection as it is by then
// (apiserver's storage/etcd3/errors.go). It is "" for what is no token.
func inconsistent(token string) string {
	var fields struct { // as in apiserver's storage/continue.go
		Version         string `json:"v"`
		ResourceVersion int64  `json:"rv"`
		Start           string `json:"start"`
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || json.Unmarshal(text, &fields) != nil {
		return ""
	}
	fields.ResourceVersion = -1 // the latest
	text, err = json.Marshal(fields)
	if err != nil { // plain data; it can't be
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// expired is the error that the rule puts into a watch, as the API server words
// it (apiserver's storage/cacher).
func (r Rule) expired() *metav1.Status {
	s := &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure,
		Code:     http.StatusGone,
		Reason:   metav1.StatusReasonExpired,
		Message:  r.Message,
	}
	if s.Message == "" {
		s.Message = "too old resource version: the check put this in"
	}
	return s
}
