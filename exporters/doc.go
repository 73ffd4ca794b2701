// Counters and DropReason of exporters: why a sealed report packet did not reach the wire.

// Package exporters holds what all exporters share: the closed list of
// reasons for which a sealed report packet does not reach the wire.
//
// An exporter takes sealed report packets, each an mbuf with a report.Handoff
// in front, sends them, and gives the mbufs back to their pool. udp is one
// goroutine per collector that takes them from one single-producer ring per
// worker. It never blocks a worker: a ring that is full is the worker's to count.
// port has no goroutine: each worker sends its own.
package exporters

import "intsink/engine/histogram"

// Counters are what an exporter made of the report packets that were handed to
// it.
type Counters struct {
	Packets uint64 // sent and, as far as is known, not refused
	Bytes   uint64 // of their UDP payload
	Dropped [NumDropReasons]uint64
	Delays  histogram.Histogram // of the packets that were sent, from their first report on; udp only
}

// DropReason says why an exporter lost a report packet.
type DropReason uint8

const (
	DropUnreachable DropReason = iota
	DropRefused
	DropPacketTooBig
	DropError
	DropUnresolved
	DropPortFull
	DropTimeout
	NumDropReasons
)

var dropReasons = [NumDropReasons]struct{ label, doc string }{
	DropUnreachable:  {"unreachable", "no route, network down, or no socket, tried again every second; or a router answered so"},
	DropRefused:      {"refused", "the collector's host answered that nobody listens on the port; unknown where the source port is hashed or 0"},
	DropPacketTooBig: {"mtu", "larger than the MTU of the interface or port that the reports leave by or, over IPv6, of the path; lower report.coalesce.max_bytes"},
	DropError:        {"error", "any other error of the socket"},
	DropUnresolved:   {"unresolved", "the gateway has not answered who it is (ARP or Neighbor Discovery); it is asked again"},
	DropPortFull:     {"port_full", "the port that the reports leave by took no more, after bounded retries, or is down"},
	DropTimeout:      {"timeout", "the kernel took nothing for a second: its send buffer is full and the interface does not send"},
}

// String returns the value of the reason label.
func (r DropReason) String() string { return dropReasons[r].label }

// Doc is one line for the documentation.
func (r DropReason) Doc() string { return dropReasons[r].doc }
