// Package bugreport is the command report-bug: it writes one archive with all that a maintainer
// needs to understand a sink that misbehaves, without secrets, packets and flows.
//
//	bugreport.go  the parts, and where each comes from
//	archive.go    the parts as a tar.gz
//	machine.go    what is said about the machine
package bugreport
