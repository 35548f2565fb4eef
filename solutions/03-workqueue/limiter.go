package sharing

import (
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

// NewLimiter makes a limiter for a queue whose retries cost something that all
// keys share, such as the budget of an API. A key waits
//
//   - by its own failures: base after the first, twice as long after each further
//     one;
//   - by those of all keys: burst retries may come at once, then qps a second, and
//     each waits its turn;
//
// whichever is longer, but never longer than longest: with a thousand keys that
// fail, none of them is put off for hours. Forget forgets what a key has done, and
// nothing of the others. It may be used by several goroutines.
//
// base, longest, qps and burst are positive.
func NewLimiter(base, longest time.Duration, qps float64, burst int) workqueue.TypedRateLimiter[Key] {
	return workqueue.NewTypedWithMaxWaitRateLimiter(
		workqueue.NewTypedMaxOfRateLimiter(
			workqueue.NewTypedItemExponentialFailureRateLimiter[Key](base, longest),
			&workqueue.TypedBucketRateLimiter[Key]{Limiter: rate.NewLimiter(rate.Limit(qps), burst)},
		),
		longest,
	)
}
