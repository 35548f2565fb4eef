// Package endpoint lets others do to a control plane what happens to one in
// production: stop, start, restart and kill a component, compact etcd, add
// nodes. It is HTTP on a free port of 127.0.0.1, since the path of a unix socket
// would be too long in a deep folder.
//
// Who may is settled by a file of the control plane's folder that only its owner
// can read. It holds the address and a token, made anew at each start, so a file
// that a kill -9 left opens nothing:
//
//	{"url": "http://127.0.0.1:41234", "token": "…"}
//
//	GET    /v1/components                  how they are
//	POST   /v1/components/NAME/VERB        stop, start, restart or kill one
//	POST   /v1/compact                     forget etcd's history
//	POST   /v1/nodes {"count":3,"by":"x"}  add simulated nodes
//	DELETE /v1/nodes?by=x                  remove those that x added; without by, all that were added
//	POST   /v1/restore                     start what is stopped, remove what checks added
//
// Each request bears "Authorization: Bearer TOKEN", each answer is an Answer.
// Actions are done one after the other, in the order in which they come.
//
// A web page can't use it: it does not know the token, and the Host header must
// be the address itself, so no name that leads here by DNS will do.
package endpoint
