// Package control serves the requests that change a running sink over its API, decides who may
// make them, and keeps their outcomes: POST /api/v1/reload and confirm, GET /api/v1/config.
//
// result.go is the JSON of the answers, for the commands that read them, too. state.go keeps
// the outcome of the last reload, server.go has the routes, peer.go tells who is at the
// other end of a unix socket, authority.go decides who may read and write, tls.go is for TCP,
// writes.go bounds, counts and logs what is written.
package control
