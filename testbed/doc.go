// Package testbed is what the checks of the course are written with: it runs
// your code against a real Kubernetes API server and watches what it does there.
//
//	func TestSelects(t *testing.T) {
//		b := testbed.New(t)
//		b.CreatePods(3, map[string]string{"app": "web"})
//
//		pods, err := clientset.ListSelected(b.Context(), b.Clientset(), b.Namespace(), "app=web")
//
//		b.NoError(err, testbed.Fail{Expected: "the Pods of app=web", See: "README.md#selectors"})
//		…
//	}
//
// A bed is a namespace of its own, a ServiceAccount in it called "learner" that
// may do what the chapter's config/rbac.yaml says and nothing else, and a
// reverse proxy that leads to the API server as that ServiceAccount. Your code
// gets only the proxy's address and token. Three things follow:
//
//   - the check sees each request you send (Bed.Traffic);
//   - it can let requests fail as they fail in real life: errors, lost answers,
//     broken connections and partitions, watches that end, expire or lag
//     (Bed.Faults, see proxy.Rule);
//   - what you do can't reach another bed, or a cluster of yours: $HOME and
//     $KUBECONFIG are set aside while a check runs.
//
// Where the exercise is a program, Bed.Start runs it as a process of its own, or
// several: it can be signalled, starved, probed and scraped, its requests are told
// apart by its name (Bed.Client), and it never outlives the check. Bed.External is
// a service outside the cluster for it to work with, which loses answers or hangs
// when the check wants it to.
//
// Bed.Admin and Bed.Foreign go straight to the API server: the one to lay out
// and look at objects unseen, the other to play somebody who edits the same
// objects as you.
//
// What happens to a cluster in production can be done to this one with
// Bed.Control: the API server restarts, is away for a while, forgets the past. A
// check says in chapter.yaml that it needs that, and is skipped where it can't be
// had.
//
// # Running
//
// `make chapter-N` runs each check in a process of its own and judges. `go test`
// in the chapter's folder and an editor's test button work as well as soon as a
// cluster is up. The cluster is the one of $LAB_KUBECONFIG, else of
// $LAB_HOME/kubeconfig, else of .lab/kubeconfig beside the course's go.work.
//
// Where the chapter has a ./cmd/manager, $LAB_MANAGER names the program that was
// built of it; without that Bed.Start builds it.
//
// # Rules for a check
//
// What must happen is waited for by Eventually, Process.Wait and WaitReady. What
// must not happen is shown by Stays, NoRequests, NoRequestsSince and Idle: each
// asks the API server for a sign of life, so that nothing passes because the
// cluster is dead, and the last three want a positive control, so that nothing
// passes because the learner's code never ran. A control that saw nothing is an
// "error", or the failure that Presence.Otherwise says.
//
// A check calls New once, first, on its own *testing.T. A second call makes a
// second bed with another namespace. Subtests may use their parent's bed as long
// as they aren't parallel and a failure may end the whole check at its end;
// a bed of a subtest's own reports under the subtest's name and alone never
// passes a check. t.Parallel is not for checks: New changes the environment,
// which is the whole process's.
//
// Fail and the methods that call it may be used from any goroutine, see there.
package testbed
