// Package verify is the command verify: it puts INT of every kind into the packets of a
// capture, has the sink remove it, and compares every byte with what was there before. The
// sources of INT are those of package intgen, which shares no code with the sink.
//
//	intkinds.go  the kinds of INT that are tried
//	sink.go      a sink in memory that reads one kind
//	command.go   every kind with every packet, and the command
//	result.go    what was tried, and what was not; verifytext.go prints it
package verify
