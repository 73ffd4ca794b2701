package flows

import (
	"cmp"
	"encoding/binary"
	"net/netip"
)

// Walk calls f for the flows from bucket at on until budget is used up: a bucket
// costs 1, a flow what f returns. It returns the bucket to go on from, 0 when all
// were seen, and what is left of budget, which the last bucket may make negative.
// f may not change the table.
func (t *Table) Walk(at, budget int, f func(*Flow) int) (next, left int) {
	for ; budget > 0 && at < len(t.buckets); at++ {
		budget--
		bk := &t.buckets[at]
		if bk.tags == [2]uint64{} {
			continue
		}
		for s := range uint64(slots) {
			if bk.tag(s) != 0 {
				budget -= f(&t.flows[uint64(at)*slots+s])
			}
		}
	}
	if at >= len(t.buckets) {
		return 0, budget
	}
	return at, budget
}

// Find is the flow of k, or nil. Unlike LookupBurst it leaves the flow as it is.
func (t *Table) Find(k *Key) *Flow {
	h := t.Hash(k)
	for _, b := range [2]uint64{h & t.mask, t.second(h)} {
		for s := range uint64(slots) {
			if t.buckets[b].tag(s) != tagOf(h) {
				continue
			}
			if f := &t.flows[b*slots+s]; f.Key.equal(k) {
				return f
			}
		}
	}
	return nil
}

// Compare orders keys by source, destination, then ports and protocol.
func (k *Key) Compare(o *Key) int {
	return cmp.Or(
		cmp.Compare(k.Src[0], o.Src[0]), cmp.Compare(k.Src[1], o.Src[1]),
		cmp.Compare(k.Dst[0], o.Dst[0]), cmp.Compare(k.Dst[1], o.Dst[1]),
		cmp.Compare(k.rest, o.rest),
	)
}

// RefreshDue is when the flow's next refresh is due, as seen at now; 0: not set yet.
func (f *Flow) RefreshDue(now int64) int64 {
	if f.NextRefresh == 0 {
		return 0
	}
	return now + int64(int32(f.NextRefresh-uint32(now>>18)))<<18
}

// Since turns a Tick of the last 52 days into Unix nanoseconds, as seen at now: whole
// milliseconds, one or two exact, and never after now.
func Since(now int64, tick uint32) int64 {
	t := now - int64(Tick(now)-tick)<<20
	return t - t%1e6
}

// SetAddrs sets addresses that are both IPv4 or both IPv6.
func (k *Key) SetAddrs(src, dst netip.Addr) {
	if src.Is4() {
		s, d := src.As4(), dst.As4()
		k.SetIPv4(binary.BigEndian.Uint32(s[:]), binary.BigEndian.Uint32(d[:]))
		return
	}
	s, d := src.As16(), dst.As16()
	k.Src = [2]uint64{binary.BigEndian.Uint64(s[:]), binary.BigEndian.Uint64(s[8:])}
	k.Dst = [2]uint64{binary.BigEndian.Uint64(d[:]), binary.BigEndian.Uint64(d[8:])}
}
