// The fragment of a packet that its report shows: which bytes, put together across buffers.

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/report"
)

// MaxFragment is the longest fragment of a packet in a report in bytes.
const MaxFragment = 8192

// fragmentRoom is what a fragment takes that is put together, with what stands in front
// of IP: Ethernet, eight VLAN tags, eight MPLS labels.
const fragmentRoom = MaxFragment + 14 + 8*4 + 8*4

// fragmentOf is what a report shows of packet j, as offsets in its frame: its first bytes,
// INT included, from the outermost layers on. Trailing Ethernet padding is not part of the
// packet; one with a template has none.
func (w *Worker) fragmentOf(b *burst, j uint8) (t report.InType, from, to int) {
	j &= mbuf.MaxBurst - 1
	i := b.fast.At[j] & (mbuf.MaxBurst - 1)
	l := &b.layers[i]
	end := int(l.End)
	switch {
	case b.parsed>>i&1 == 0:
		l, end = b.fast.Outermost(b.fast.Template[j]), b.vec[i].PktLen()
	case b.info[i].Depth > 0:
		l = &b.outers[i][0]
		end = int(l.End)
	}
	t = report.IPv4
	if l.IPVersion == 6 {
		t = report.IPv6
	}
	rules := &w.rules.Report
	if rules.Fragment == 0 {
		return report.None, 0, 0
	}
	from = int(l.L3)
	if rules.Ethernet {
		from, t = 0, report.Ethernet
	}
	return t, from, min(from+rules.Fragment, end)
}

// innerOf are the inner contents of a report of packet j.
func (w *Worker) innerOf(b *burst, j uint8) (report.InType, []byte) {
	t, from, to := w.fragmentOf(b, j)
	return t, w.bytesOf(b.vec[b.fast.At[j]], from, to)
}

// bytesOf returns bytes [from, to) of the packet m, or as many as it has. Where its first
// buffer has less they are put together, valid until the next call.
func (w *Worker) bytesOf(m *mbuf.Mbuf, from, to int) []byte {
	f := m.Bytes()
	if to > len(f) && len(f) < m.PktLen() {
		f = m.AppendTo(w.scratch.fragment[:0], min(to, len(w.scratch.fragment)))
	}
	to = min(to, len(f))
	return f[min(from, to):to]
}
