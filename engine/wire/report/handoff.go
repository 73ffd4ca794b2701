// Handoff: writes and takes the 16 bytes before a sealed report packet on its way to the
// exporter; EntropyPort, its UDP source port.

package report

import "encoding/binary"

// HandoffLen is the length of the bytes that stand in front of a sealed report
// packet while it travels from a worker to its exporter.
const HandoffLen = 16

// Handoff is what an exporter must know of a report packet besides its bytes.
type Handoff struct {
	Time    int64  // when the packet was sealed, Unix nanoseconds
	Entropy uint16 // hash of the first report's flow, for the UDP source port
	Reports uint16 // individual reports inside
	Waited  uint32 // from when the packet was opened until then, in units of 1024 ns
}

// Put writes h to the first HandoffLen bytes of b, in host order: it never
// leaves the process.
func (h Handoff) Put(b []byte) {
	b = b[:HandoffLen]
	binary.NativeEndian.PutUint64(b, uint64(h.Time))
	binary.NativeEndian.PutUint16(b[8:], h.Entropy)
	binary.NativeEndian.PutUint16(b[10:], h.Reports)
	binary.NativeEndian.PutUint32(b[12:], h.Waited)
}

// TakeHandoff reads what Put wrote and returns the report packet behind it.
func TakeHandoff(b []byte) (Handoff, []byte) {
	return Handoff{
		Time:    int64(binary.NativeEndian.Uint64(b)),
		Entropy: binary.NativeEndian.Uint16(b[8:]),
		Reports: binary.NativeEndian.Uint16(b[10:]),
		Waited:  binary.NativeEndian.Uint32(b[12:]),
	}, b[HandoffLen:]
}

// WaitedFor is h.Waited of a packet that was open for so many nanoseconds.
func WaitedFor(ns int64) uint32 { return uint32(ns >> 10) }

// Delay returns how long the packet's first report has been waiting at now.
func (h Handoff) Delay(now int64) int64 { return now - h.Time + int64(h.Waited)<<10 }

// EntropyPort returns the UDP source port that carries the hash of a flow: in the dynamic range
// (RFC 6335, 49152 and up).
func EntropyPort(entropy uint16) uint16 { return 0xc000 | entropy&0x3fff }
