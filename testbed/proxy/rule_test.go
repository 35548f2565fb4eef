package proxy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRulesThatCantBe(t *testing.T) {
	for _, tc := range []struct {
		rule Rule
		says string
	}{
		{Rule{}, "does nothing"},
		{Rule{Match: Match{Verb: "list"}, Times: 1, After: 1}, "does nothing"},
		{Rule{Status: 500, Drop: true}, "more than one fault: Drop, Status"},
		{Rule{Close: true, Expire: true, Delay: 1}, "more than one fault: Close, Delay, Expire"},
		{Rule{DropAnswer: true, Drop: true}, "more than one fault: Drop, DropAnswer"},
		{Rule{Hold: true, Blackhole: true}, "more than one fault: Blackhole, Hold"},
		{Rule{Status: 200}, "Status 200 (OK) is no error"},
		{Rule{Status: 600}, "Status 600 () is no error"},
		{Rule{Drop: true, RetryAfter: time.Second}, "need a Status"},
		{Rule{Expire: true, Reason: metav1.StatusReasonGone}, "need a Status"},
		{Rule{Close: true, Message: "m"}, "Message needs"},
		{Rule{Status: 500, AfterEvents: 1}, "AfterEvents needs"},
		{Rule{Latency: time.Second, AfterEvents: 1}, "AfterEvents needs"},
		{Rule{DropAnswer: true, AfterEvents: 1}, "AfterEvents needs"},
		{Rule{Match: Match{Verb: "get"}, Close: true}, `for watches, and its Match is for the verb "get"`},
		{Rule{Match: Match{Verb: Write}, Expire: true}, `for watches, and its Match is for the verb "write"`},
		{Rule{Match: Match{Verb: "list"}, Hold: true, AfterEvents: 1}, `for watches, and its Match is for the verb "list"`},
		{Rule{Match: Match{Verb: "watch"}, DropAnswer: true}, "not for watches"},
		{Rule{Latency: -1}, "Latency is negative"},
		{Rule{Delay: -1}, "Delay is negative"},
		{Rule{Status: 500, RetryAfter: -1}, "RetryAfter is negative"},
		{Rule{Drop: true, Times: -1}, "Times is negative"},
		{Rule{Drop: true, After: -1}, "After is negative"},
		{Rule{Drop: true, AfterEvents: -1}, "AfterEvents is negative"},
	} {
		t.Run(tc.says, func(t *testing.T) {
			var f Faults
			defer func() { assert.Contains(t, recover(), tc.says) }()
			f.Add(tc.rule)
		})
	}
	for _, rule := range []Rule{
		{Latency: 1}, {Before: func() {}}, {Status: 404, Latency: 1, Before: func() {}, Message: "m"},
		{Drop: true}, {DropAnswer: true}, {Hold: true}, {Blackhole: true, AfterEvents: 3},
		{Match: Match{Verb: Read}, Close: true}, {Expire: true, Message: "m"}, {Match: Match{Verb: "watch"}, Delay: 1},
	} {
		var f Faults
		assert.NotPanics(t, func() { f.Add(rule) }, "%+v", rule)
	}
}
