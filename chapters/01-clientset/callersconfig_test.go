package clientset_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/controllings/controllings/testbed"
)

// expectTheRest looks at what a client takes over from the caller's configuration
// beside its address and its credentials: what is set there, and what is not.
func expectTheRest(b *testbed.Bed) {
	for _, set := range []struct {
		timeout               time.Duration
		contentType, accepted string
	}{
		{0, "", "application/vnd.kubernetes.protobuf"}, // what clientsets prefer
		{long, "application/json", "application/json"},
	} {
		config := b.Config()
		config.Timeout = set.timeout
		config.ContentType = set.contentType
		config.Impersonate.UserName = "jane"
		var used usedFields
		config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			used.add("Dial")
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		config.Proxy = func(*http.Request) (*url.URL, error) {
			used.add("Proxy")
			return nil, nil // straight there
		}
		var before rest.Config
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			// client-go calls this while it makes the client.
			if field, was, is := difference(before, *config); field != "" {
				b.Fail(testbed.Fail{
					Expected: "the caller's configuration as it was at any moment: somebody else may be reading it just now",
					Seen:     fmt.Sprintf("the field %s was %v before NewClient and %v in the middle of it", field, was, is),
					See:      budgetPart,
				})
			}
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				used.add("WrapTransport")
				if r.Header.Get(transport.ImpersonateUserHeader) == "jane" {
					used.add("Impersonate")
				}
				if end, ok := r.Context().Deadline(); ok {
					used.ends = time.Until(end)
				}
				used.accept = r.Header.Get("Accept")
				return next.RoundTrip(r)
			})
		})
		before = *config

		client := newClient(b, config, budget)
		_, err := client.CoreV1().Pods(b.Namespace()).List(b.Context(), metav1.ListOptions{Limit: 1})
		b.NoError(err, testbed.Fail{Expected: "a list of Pods through the new client", See: budgetPart})
		for _, field := range []string{"WrapTransport", "Impersonate", "Proxy", "Dial"} {
			if !used.has(field) {
				b.Fail(testbed.Fail{
					Expected: "all but name and limits as the caller's configuration has it, " + field + " among the rest",
					Seen:     "a request without it",
					See:      budgetPart,
				})
			}
		}
		if !strings.HasPrefix(used.accept, set.accepted) {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("answers in %s, as the ContentType %q of the caller's configuration says", set.accepted, set.contentType),
				Seen:     "a request for " + used.accept,
				See:      budgetPart,
			})
		}
		if used.ends > set.timeout || used.ends < set.timeout-time.Minute {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("the Timeout of the caller's configuration, %s, where 0 is none: a watch breaks off with its client's Timeout", set.timeout),
				Seen:     fmt.Sprintf("a request with a time limit of %s", used.ends.Round(time.Second)),
				See:      limitsPart,
			})
		}
	}
}

// usedFields are the fields of a configuration that a request went by.
type usedFields struct {
	fields sync.Map
	ends   time.Duration // until its time limit; 0 is none
	accept string
}

func (u *usedFields) add(field string) { u.fields.Store(field, true) }

func (u *usedFields) has(field string) bool {
	_, ok := u.fields.Load(field)
	return ok
}

// difference names the first field in which two configurations differ. Functions
// are the same if they are at the same place.
func difference(before, after rest.Config) (field string, was, is any) {
	x, y := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range x.NumField() {
		name, p, q := x.Type().Field(i).Name, x.Field(i), y.Field(i)
		if p.Kind() == reflect.Func {
			if p.Pointer() != q.Pointer() {
				return name, "another function", "a function"
			}
			continue
		}
		if !reflect.DeepEqual(p.Interface(), q.Interface()) {
			if name == "BearerToken" || name == "Password" {
				return name, "another", "changed"
			}
			return name, show(p), show(q)
		}
	}
	return "", nil, nil
}

// show is a value for a person; an empty text is seen as one.
func show(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return fmt.Sprintf("%q", v.String())
	}
	return fmt.Sprint(v.Interface())
}
