// Package proxy stands between a learner's code and the API server.
//
// It is an ordinary reverse proxy on loopback: whatever speaks to the API
// server can speak to it, by HTTP/2 and TLS, in JSON or protobuf, with watches
// and the streaming lists of today's informers. On the way it does three things
// that a check needs:
//
//   - identity: the caller shows a random token that is worth nothing elsewhere,
//     and the proxy acts at the API server as one ServiceAccount
//     (impersonation). A caller's own attempts to impersonate are taken out.
//   - Traffic: a record of every request, to count and to show. Each process of
//     several may have a token, and so a name in the record, of its own.
//   - Faults: rules by which a request is answered with an error, late or not at
//     all, a connection breaks or goes dark, a watch ends, expires or lags. They
//     act on watches that are open already, too. See Rule.
//
// What no rule is about passes as it is, to the byte.
//
// It doesn't carry upgraded connections: exec, attach and port-forward get 501.
package proxy
