// Key of a stream, and the fields of a report packet's header that name its place there.

package streams

import (
	"net/netip"

	"github.com/cespare/xxhash/v2"

	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
	"intsink/exporters/ipfix/message"
)

// Key identifies one sequence of report packets. The exporter's port is left out: a sink may
// vary it per flow, for load balancing.
type Key struct {
	Exporter  netip.Addr     `json:"exporter"`  // source address
	Collector netip.AddrPort `json:"collector"` // destination address
	Node      uint32         `json:"node_id"`   // 0 in version 0.5, where some reports only have one
	HwID      uint8          `json:"hw_id"`
	Version   uint8          `json:"version"` // 2 for 2.0, 1 for 1.0, 0 for 0.5, IPFIX

	// Where packets say which sink sent them, one start of it; Exporter is the address of the latest.
	Instance uint64 `json:"instance,omitempty"`
	Began    int64  `json:"began,omitempty"`
}

// IPFIX is Key.Version of the data records of a terminator of IFA: Node is the observation domain.
const IPFIX = 3

// KeyOf returns the key of a packet with header h between two addresses.
func KeyOf(exporter netip.Addr, collector netip.AddrPort, h *Header) Key {
	return Key{exporter, collector, h.Node, h.HwID, h.Version, h.Sender.Instance, h.Sender.Began}
}

// known reports whether packets say which sink sent them.
func (k *Key) known() bool { return k.Instance != 0 }

// place is k as the table has it: a sink that says who it is may change its address.
func (k Key) place() Key {
	if k.known() {
		k.Exporter = netip.Addr{}
	}
	return k
}

// label is k without the sender: what operators tell sinks apart by.
func (k Key) label() Key {
	k.Instance, k.Began = 0, 0
	return k
}

// Header has the fields of a report packet's header that give its place in a stream.
type Header struct {
	Node     uint32
	Sequence uint32
	HwID     uint8
	Version  uint8
	Reports  int             // in the packet, as far as their lengths tell
	Print    uint32          // of its contents: two packets that differ in it are no copies of each other; 0: not known
	Sender   report.Identity // zero: the packet does not say
}

// ReadHeader reads the header of a report packet. It returns false if payload is too short for
// one, or of an unknown version.
func ReadHeader(payload []byte) (h Header, ok bool) {
	r, err := decode.ReadHeader(payload)
	if err != nil {
		return h, false
	}
	h = Header{Sequence: r.Sequence, HwID: r.HwID, Version: uint8(r.Version - decode.Version05), Reports: decode.CountReports(payload)}
	if r.Identified {
		h.Sender = r.Identity
	}
	h.Print = uint32(xxhash.Sum64(payload[:min(len(payload), printed)])) | 1
	if r.Version != decode.Version05 { // in 0.5 some report packets of a stream only have the node
		h.Node = r.NodeID
	}
	return h, true
}

// OfMessage is the header of a data record: that whose number h has, alone in message m; nil: nothing is known of its contents.
func OfMessage(h message.Header, m []byte) Header {
	x := Header{Node: h.Domain, Sequence: h.Sequence, Version: IPFIX, Reports: 1}
	if m != nil {
		x.Print = uint32(xxhash.Sum64(m)) | 1
	}
	return x
}

// printed is how many bytes of a packet Header.Print is made of: those of the first reports, with their times.
const printed = 256

// mask returns the highest sequence number of the stream's packets.
func (k *Key) mask() uint64 {
	switch {
	case k.known():
		return 1<<64 - 1
	case k.Version == 2:
		return 1<<22 - 1
	}
	return 1<<32 - 1
}

// IsNumber reports whether an extended sequence number is one of a packet with header h: packets of a
// switch that does not number them are counted instead.
func IsNumber(h Header, extended uint64) bool {
	k := Key{Version: h.Version, Instance: h.Sender.Instance}
	return extended&k.mask() == k.number(&h)
}

// number returns the sequence number of a packet of the stream, as wide as it is on the wire.
func (k *Key) number(h *Header) uint64 {
	if k.known() {
		return h.Sender.Sequence
	}
	return uint64(h.Sequence)
}
