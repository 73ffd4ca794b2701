// Package packets tests what passes a running sink: ports, collectors, captures, mitigation.
package packets
