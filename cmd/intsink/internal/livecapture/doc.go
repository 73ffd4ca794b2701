// Package livecapture is captures of live packets of a running sink, before and after their
// INT is removed: POST /api/v1/capture, which streams them as pcapng, and the command capture,
// its client.
//
//	request.go  the JSON of a request, and what workers make of it
//	server.go   the route: one capture at a time
//	stream.go   from the workers' rings to pcapng
//	command.go  the command; blocks.go, pcapng block by block; output.go, the file
package livecapture
