// Package exporters holds what all exporters share: the closed list of
// reasons for which a sealed report packet does not reach the wire.
//
// An exporter is one goroutine per collector. It takes sealed report packets,
// each an mbuf with a report.Handoff in front, from one single-producer ring
// per worker, sends them, and gives the mbufs back to their pool. It never
// blocks a worker: a ring that is full is the worker's to count.
package exporters

// DropReason says why an exporter lost a report packet.
type DropReason uint8

const (
	DropUnreachable DropReason = iota
	DropRefused
	DropPacketTooBig
	DropError
	NumDropReasons
)

var dropReasons = [NumDropReasons]struct{ label, doc string }{
	DropUnreachable:  {"unreachable", "no route, network down, or no socket, tried again every second; or a router answered so"},
	DropRefused:      {"refused", "the collector's host answered that nobody listens on the port; unknown where the source port is hashed or 0"},
	DropPacketTooBig: {"mtu", "larger than the path's MTU: DF is set; lower report.coalesce.max_bytes"},
	DropError:        {"error", "any other error of the socket"},
}

// String is the value of the reason label.
func (r DropReason) String() string { return dropReasons[r].label }

// Doc is one line for the documentation.
func (r DropReason) Doc() string { return dropReasons[r].doc }
