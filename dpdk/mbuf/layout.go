// Offsets of the fields of Mbuf in Go.

package mbuf

import "unsafe"

// Layout is the offset of every field that Go uses, in the order buf_addr,
// data_off, refcnt, nb_segs, port, ol_flags, pkt_len, data_len, buf_len, next, and
// the size of the whole, to be compared with C.
func Layout() []uintptr {
	var m *Mbuf
	return []uintptr{
		unsafe.Offsetof(m.bufAddr), unsafe.Offsetof(m.dataOff), unsafe.Offsetof(m.refcnt), unsafe.Offsetof(m.nbSegs),
		unsafe.Offsetof(m.port), unsafe.Offsetof(m.olFlags), unsafe.Offsetof(m.pktLen), unsafe.Offsetof(m.dataLen),
		unsafe.Offsetof(m.bufLen), unsafe.Offsetof(m.next), unsafe.Sizeof(*m),
	}
}
