// Names metadata values by bitmap: the parts and widths of each bit, in INT 2.1, 1.0 and
// RepMdBits; writes them as JSON with null.

package decode

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// Value is one named metadata value as it stands on the wire.
type Value struct {
	Name   string
	Number uint64
	Null   bool // all ones: the node could not provide it
}

// Values are in the order of the wire. In JSON they are one object, with null
// for what a node could not provide. Timestamps have 64 bits, which readers that take
// numbers for doubles cut to 53: records (exporters/record) have them as text.
type Values []Value

// MarshalJSON implements json.Marshaler.
func (v Values) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, x.Name)
		b = append(b, ':')
		if x.Null {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendUint(b, x.Number, 10)
		}
	}
	return append(b, '}'), nil
}

// Get returns the value of that name; false where there is none or it is null.
func (v Values) Get(name string) (uint64, bool) {
	for _, x := range v {
		if x.Name == name {
			return x.Number, !x.Null
		}
	}
	return 0, false
}

// part is one value inside the metadata of one bit; one without a name is
// padding.
type part struct {
	name string
	bits int // 8, 16, 24, 32 or 64
}

// bitmap gives the parts of each bit, the most significant bit first.
type bitmap [16][]part

func word(name string) []part { return []part{{name, 32}} }

func wide(name string) []part { return []part{{name, 64}} }

var (
	interfaces       = []part{{"ingress_interface_id", 16}, {"egress_interface_id", 16}}
	level2Interfaces = []part{{"level2_ingress_interface_id", 32}, {"level2_egress_interface_id", 32}}
	queue            = []part{{"queue_id", 8}, {"queue_occupancy", 24}}
	buffer           = []part{{"buffer_id", 8}, {"buffer_occupancy", 24}}
	dropReason       = []part{{"queue_id", 8}, {"drop_reason", 8}, {"", 16}}
)

// hopBits are the bits of the INT 2.1 Instruction Bitmap.
var hopBits = bitmap{
	word("node_id"), interfaces, word("hop_latency"), queue,
	wide("ingress_timestamp"), wide("egress_timestamp"), level2Interfaces, word("tx_utilization"),
	buffer, word("reserved_9"), word("reserved_10"), word("reserved_11"),
	word("reserved_12"), word("reserved_13"), word("reserved_14"), word("checksum_complement"),
}

// oldHopBits are the instruction bits of INT 1.0: timestamps of one word, no buffers.
var oldHopBits = bitmap{
	word("node_id"), interfaces, word("hop_latency"), queue,
	word("ingress_timestamp"), word("egress_timestamp"), level2Interfaces, word("tx_utilization"),
	word("reserved_8"), word("reserved_9"), word("reserved_10"), word("reserved_11"),
	word("reserved_12"), word("reserved_13"), word("reserved_14"), word("checksum_complement"),
}

// repBits are the RepMdBits of Telemetry Report 2.0.
var repBits = bitmap{
	word("reserved_0"), interfaces, word("hop_latency"), queue,
	wide("ingress_timestamp"), wide("egress_timestamp"), level2Interfaces, word("tx_utilization"),
	buffer, word("reserved_9"), word("reserved_10"), word("reserved_11"),
	word("reserved_12"), word("reserved_13"), word("reserved_14"), dropReason,
}

// oldRepBits are the six RepMdBits of Telemetry Report 1.0, in the upper bits.
var oldRepBits = bitmap{
	interfaces, word("hop_latency"), queue, word("egress_timestamp"), dropReason, word("tx_utilization"),
}

// size returns the length in bytes of the values that bits ask for.
func (m *bitmap) size(bits uint16) int {
	n := 0
	for i := range m {
		if bits<<i&0x8000 != 0 {
			for _, p := range m[i] {
				n += p.bits / 8
			}
		}
	}
	return n
}

// read returns the values that bits ask for from b, as many as are there in
// full, and how many bytes they took.
func (m *bitmap) read(bits uint16, b []byte) (Values, int) {
	v := Values{}
	n := 0
	for i := range m {
		if bits<<i&0x8000 == 0 {
			continue
		}
		one := m.size(0x8000 >> i)
		if n+one > len(b) {
			break
		}
		v = appendParts(v, m[i], b[n:n+one])
		n += one
	}
	return v, n
}

// appendParts reads one bit's parts from b, which is exactly as long. A value
// is null where all its bits are ones; an id of eight bits only where its whole
// word is, since 255 may well be a queue.
func appendParts(v Values, parts []part, b []byte) Values {
	whole := true
	for _, x := range b {
		whole = whole && x == 0xff
	}
	for _, p := range parts {
		var number [8]byte
		size := p.bits / 8
		copy(number[8-size:], b[:size])
		b = b[size:]
		x := Value{Name: p.name, Number: binary.BigEndian.Uint64(number[:])}
		x.Null = whole || p.bits > 8 && x.Number == 1<<p.bits-1
		if v.has(p.name) {
			x.Name = "drop_" + p.name // the queue id of bits 3 and 15
		}
		if p.name != "" {
			v = append(v, x)
		}
	}
	return v
}

func (v Values) has(name string) bool {
	return slices.ContainsFunc(v, func(x Value) bool { return x.Name == name })
}
