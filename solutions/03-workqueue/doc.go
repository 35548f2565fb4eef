// Package sharing is a whole controller written with client-go alone. It copies
// ConfigMaps from one namespace into others, those that ask for them, and keeps
// the copies right: whatever anybody does, a moment later each copy is there if
// it should be, with the data that it should have, and is gone if it should not.
//
// What it is about is in share.go, what it knows of the cluster in caches.go, and
// what brings the two together in copier.go. The rest is how a controller works.
package sharing
