// Package control is what can be done to a running sink over its API, by whom, and what
// became of it: POST /api/v1/reload and GET /api/v1/config.
//
// result.go is the JSON of the answers, for the commands that read them, too. state.go keeps
// the outcome of the last reload, server.go has the routes, peer.go tells who is at the
// other end of a unix socket, authority.go decides who may read and write, tls.go is for TCP,
// writes.go bounds, counts and logs what is written.
package control
