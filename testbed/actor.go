package testbed

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// foreignActor is the user agent of Foreign, and so its field manager.
const foreignActor = "foreign-actor"

// Admin may do everything and goes straight to the API server, unrecorded: for
// laying out what a check begins with, and for looking at what came of it.
func (b *Bed) Admin() kubernetes.Interface { return b.clients }

// AdminConfig is a fresh configuration with Admin's rights, for clients of
// another kind.
func (b *Bed) AdminConfig() *rest.Config { return rest.CopyConfig(b.admin) }

// Foreign is somebody else who works on the same objects as the learner's code:
// a person with kubectl, or another controller. Its writes bear the field
// manager "foreign-actor". It has Admin's rights and isn't recorded.
func (b *Bed) Foreign() kubernetes.Interface {
	b.t.Helper()
	c := b.AdminConfig()
	c.UserAgent = foreignActor
	return b.clientset(c)
}
