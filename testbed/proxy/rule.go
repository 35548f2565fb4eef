package proxy

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rule says which requests meet a fault, and which one:
//
//	bed.Faults().Add(proxy.Rule{Match: proxy.Match{Verb: "watch", Resource: "pods"}, Expire: true, Times: 1})
//
// A rule has one fault: Status, Drop, DropAnswer, Hold, Blackhole, Close, Expire
// or Delay. Latency and Before may stand alone or beside it.
//
// Status, DropAnswer, Latency and Before act on requests that begin after the
// rule was added. The other faults act on watches that are open at that time as
// well, the oldest first, and have done so when Add returns. A new request meets
// the first rule, in the order in which they were added, that matches it and is
// not used up. An open watch meets each rule that is added while it is open, so
// a watch whose events are held can be closed too.
//
// What is said below of client-go is from the source of v0.37.2.
type Rule struct {
	// Match chooses the requests.
	Match Match

	// Status answers in the API server's place, with this HTTP status (400 to
	// 599) and a metav1.Status as the body. The request doesn't reach the API
	// server. 0 lets it through.
	//
	// Of a watch this is the answer to its opening: a reflector waits and opens it
	// again after 429, and after any other error it waits and lists anew
	// (tools/cache/reflector.go, watch).
	Status int
	// Reason is what apierrors.ReasonForError will find; "" takes the one that
	// the API server uses with this status: AlreadyExists for the 409 of a
	// create, Conflict for any other 409, Expired for 410, and so on. With Expired
	// a list's continue token is answered as by the API server, with another one
	// that goes on at the same key in the collection as it is by then.
	Reason metav1.StatusReason
	// Message is the text of Status or Expire; "" takes a plain one.
	Message string
	// RetryAfter asks the client to come again after this time, in whole
	// seconds rounded up (the header knows no less). After 429 and 500 to 599
	// client-go does so by itself, up to ten times, for any verb
	// (rest/with_retry.go, checkWait); other statuses go to the caller. 0 sends
	// no such header, and then the caller gets each error.
	RetryAfter time.Duration

	// Drop closes the connection instead of an answer, as when a server dies.
	// The request doesn't reach the API server; an open watch breaks off.
	//
	// A connection is closed as a whole. By HTTP/2 a client sends everything
	// over one, so its other requests and watches break off too; and two clients
	// of one process share it when their configurations differ by no more than
	// the token (transport/cache.go).
	//
	// client-go sends a GET or a list again, after a second and up to ten times
	// (rest/request.go, request). A write fails with an error that is no API
	// status: an unexpected EOF, or a reset by peer where more was on its way. The
	// opening of a watch is tried again as a list is, and ends as a watch without
	// events and without an error (Watch). An open watch ends as if it had been
	// closed (apimachinery's watch/streamwatcher.go), and a reflector opens it
	// again where it was, without a list.
	Drop bool

	// DropAnswer lets the request through, throws its answer away, and closes
	// the connection as Drop does: what was asked for has happened, and the
	// client sees an error. A create that is tried again then meets
	// AlreadyExists. Watches pass by, since their answer doesn't end.
	DropAnswer bool

	// Hold keeps everything back until Handle.Remove: a request doesn't go on to
	// the API server; a watch is opened, but no event of it arrives, no bookmark
	// and no end. Afterwards all of it follows, in its order; nothing is lost.
	// The connection stays in use for other requests and answers pings, so no
	// client notices by itself. client-go waits as long as the caller's context
	// and rest.Config.Timeout (default: none) let it.
	//
	// An event counts as held if the proxy had not begun to pass it on when the
	// rule was added.
	Hold bool

	// Blackhole makes the connection go dark: nothing is read from it or written
	// to it any more, no ping is answered, and it stays open. As in a partition,
	// the requests on it stay without an answer, and none that is sent into the
	// dark reaches the API server, not even later. It is dark as a whole, see
	// Drop.
	//
	// Without Times, After and AfterEvents it cuts a client off, such as one
	// process of two (Match.Client): dark are all connections on which a matching
	// request has ever come, and each on which one comes. With Times: 1 it is one
	// half-open connection, and a new one works. (A new connection goes dark with
	// its first request, not while it is made: who calls is only known by then.)
	//
	// Handle.Remove heals it: what is dark is closed, as by a router that has
	// forgotten it, and clients connect anew.
	//
	// client-go sends a ping after 30 s without a byte from the server, and takes
	// the connection as lost 15 s later (apimachinery's util/net/http.go;
	// HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS change that
	// for the clients made afterwards). A GET is then sent again; a reflector's
	// watch ends with an error, and it lists anew.
	Blackhole bool

	// Close ends a watch properly, as the API server does after timeoutSeconds.
	// A reflector opens it again where it was, without a list. A watch that ends
	// within its first second and without an event makes it wait and list anew
	// (VeryShortWatchError in tools/cache/reflector.go).
	Close bool

	// Expire puts an event of type ERROR into a watch, with a Status 410 Expired,
	// and ends it: the API server no longer has the history from there on. It is
	// in the watch's own encoding.
	//
	// A reflector lists anew (by a streaming list, which is a watch with
	// sendInitialEvents, where WatchListClient is on); a RetryWatcher passes the
	// error on and ends (tools/watch/retrywatcher.go).
	Expire bool

	// Delay lets each event of a watch arrive so much later, bookmarks and the
	// watch's end too. The order stays, nothing is lost, and what one event waits
	// doesn't add to the next one's wait. Handle.Remove releases what waits.
	Delay time.Duration

	// AfterEvents lets so many events of each watch through before its fault
	// begins, counted from the moment at which the watch meets the rule. Those of
	// a streaming list count, bookmarks don't. Only for the faults that act on
	// open watches; other requests pass by such a rule.
	AfterEvents int

	// Latency is waited before the request goes on to the API server, or before
	// the fault.
	Latency time.Duration

	// Before is run when the request has arrived, before it goes on to the API
	// server, or before the fault. What it does has happened when the learner's
	// request does: a foreign actor that writes between a read and a write.
	// Its own requests must not go through this proxy. nil does nothing.
	Before func()

	// After lets so many matching requests through first. A watch is one request.
	After int
	// Times is how many requests meet the fault; 0 is all, until Handle.Remove. A
	// watch that ends before its fault began is not counted.
	Times int
}

// onlyWatches reports that the fault has no meaning for another request.
func (r Rule) onlyWatches() bool {
	return r.Close || r.Expire || r.Delay > 0 || r.AfterEvents > 0
}

// onOpen reports that the fault can happen to a watch that is open already.
func (r Rule) onOpen() bool {
	return r.Close || r.Expire || r.Delay > 0 || r.Hold || r.Drop || r.Blackhole
}

// inStream reports that the fault happens to the answer of a watch, after its
// opening. A connection that breaks before the first event breaks earlier.
func (r Rule) inStream() bool {
	return r.onOpen() && (r.AfterEvents > 0 || !r.Drop && !r.Blackhole)
}

// cutsOff reports that the rule is about a client, and not about some requests.
func (r Rule) cutsOff() bool {
	return r.Blackhole && r.Times == 0 && r.After == 0 && r.AfterEvents == 0
}

// reaches reports whether the fault can happen to req at all.
func (r Rule) reaches(req Request) bool {
	if req.Verb == "watch" {
		return !r.DropAnswer
	}
	return !r.onlyWatches()
}

// check says what is wrong with a rule that a check waits for in vain, or "".
func (r Rule) check() string {
	var faults []string
	for name, set := range map[string]bool{
		"Status": r.Status != 0, "Drop": r.Drop, "DropAnswer": r.DropAnswer, "Hold": r.Hold,
		"Blackhole": r.Blackhole, "Close": r.Close, "Expire": r.Expire, "Delay": r.Delay > 0,
	} {
		if set {
			faults = append(faults, name)
		}
	}
	slices.Sort(faults)
	for name, n := range map[string]int64{
		"RetryAfter": int64(r.RetryAfter), "Delay": int64(r.Delay), "Latency": int64(r.Latency),
		"AfterEvents": int64(r.AfterEvents), "After": int64(r.After), "Times": int64(r.Times),
	} {
		if n < 0 {
			return name + " is negative"
		}
	}
	verb := r.Match.Verb
	watches := verb == "" || verb == Read || verb == "watch"
	switch {
	case len(faults) == 0 && r.Latency == 0 && r.Before == nil:
		return "it does nothing: it has no fault, no Latency and no Before"
	case len(faults) > 1:
		return "it has more than one fault: " + strings.Join(faults, ", ")
	case r.Status != 0 && (r.Status < 400 || r.Status > 599):
		return fmt.Sprintf("Status %d (%s) is no error", r.Status, http.StatusText(r.Status))
	case r.Status == 0 && (r.Reason != "" || r.RetryAfter != 0):
		return "Reason and RetryAfter need a Status"
	case r.Status == 0 && !r.Expire && r.Message != "":
		return "Message needs a Status or Expire"
	case r.AfterEvents > 0 && !r.onOpen():
		return "AfterEvents needs one of Drop, Hold, Blackhole, Close, Expire, Delay"
	case r.onlyWatches() && !watches:
		return fmt.Sprintf("it is for watches, and its Match is for the verb %q", verb)
	case r.DropAnswer && verb == "watch":
		return "DropAnswer is not for watches: their answer doesn't end"
	}
	return ""
}
