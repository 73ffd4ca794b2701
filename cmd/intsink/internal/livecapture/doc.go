// Package livecapture captures packets of a running sink, before and after their INT is removed:
// the route POST /api/v1/capture, which streams them as pcapng, and its client, the command
// capture.
//
//	capturerequest.go  the JSON of a request, compiled to the workers' capture.Filter
//	server.go          the route: one capture at a time
//	recorded.go        from the workers' flight recorders to pcapng: packets from before the request
//	runningcapture.go  from the workers' rings to pcapng
//	command.go         the command; blocks.go, pcapng block by block; capturefile.go, the file
package livecapture
