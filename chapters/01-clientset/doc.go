// Package clientset talks to the Kubernetes API server with client-go's typed
// clients: it lists and selects, writes, pages, patches, and finds out which
// server to talk to in the first place.
package clientset
