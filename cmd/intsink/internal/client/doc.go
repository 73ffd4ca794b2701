// Package client asks a running sink over its HTTP endpoint or its socket: Options say where it is, a Sink
// is asked, and Show does both and prints the answer. Commands that do little else are here:
//
//	reload.go         reload, confirm, check --against-running
//	confighistory.go  config history, diff and rollback
//	why.go            why; whytext.go and whywaits.go say what its answer means
package client
