// dealing: which worker a packet belongs to, by the flow that is watched; packets that found
// the ring of their worker full.

package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/distribute"
	"intsink/engine/fast"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/flows"
)

// dealing answers for a link whose network port this worker receives from for all workers
// (package distribute).
//
// A packet with INT is hashed by the key of its flow, the one that the flow tables know it by:
// that of the original packet, in the layer of a tunnel where INT stands. One without is
// hashed by the innermost packet, so that it stays in order with those of its flow that
// have INT. But a tunnel that has INT in its own layer is a flow itself: from the first such packet
// between two of its ends on, all packets between them are hashed by the tunnel.
type dealing struct {
	worker  *Worker
	link    *linkState
	burst   *burst // of what Hash looks at
	layers  packet.Layers
	inner   packet.Layers
	none    inthdr.Info
	key     flows.Key
	tunnels [tunnelBits / 64]uint64 // by the hash of both ends: the tunnel has INT in its own layer
}

// tunnelBits is how many tunnels are told apart. Two that are not are hashed alike: in order,
// but perhaps by the tunnel.
const tunnelBits = 4096

// dealFor makes the worker the handler of the ports that it receives from for others.
func (w *Worker) dealFor() {
	for i := range w.links {
		p := &w.links[i]
		if q, ok := p.link.Network.(interface{ Deal(distribute.Handler) bool }); ok {
			q.Deal(&dealing{worker: w, link: p, burst: newBurst(w.fast)})
		}
	}
}

// Hash makes h[i] a hash of the flow of v[i].
func (d *dealing) Hash(v *mbuf.Vec, n int, h *[mbuf.MaxBurst]uint8) {
	f := d.worker.fast
	d.worker.dealt = true
	f.Match(v, n)
	left := ^uint64(0) >> (mbuf.MaxBurst - n)
	for j, i := range f.At[:f.Len()] {
		if f.Unknown>>j&1 == 0 {
			h[i&(mbuf.MaxBurst-1)] = d.ofINT(&f.Keys[j], f.Hashes[j])
			left &^= 1 << i
		}
	}
	if left != 0 {
		d.rest(v, n, h, left)
	}
}

// rest hashes the packets whose bits are set in left: those without a template, which may get
// one, and those without INT.
//
//go:noinline
func (d *dealing) rest(v *mbuf.Vec, n int, h *[mbuf.MaxBurst]uint8, left uint64) {
	f, b := d.worker.fast, d.burst
	b.vec, b.n, b.parsed = v, n, 0
	for unknown := f.Unknown; unknown != 0; unknown &= unknown - 1 {
		j := uint8(bits.TrailingZeros64(unknown))
		i := f.At[j] & (mbuf.MaxBurst - 1)
		h[i] = d.parse(j)
		left &^= 1 << i
	}
	for ; left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		h[i] = d.withoutINT(v[i].Bytes(), v[i].PktLen())
	}
	b.vec = nil
}

// parse is the hash of packet j, which has no template. It makes one, as parseOne does;
// counting is left to the worker that gets the packet.
func (d *dealing) parse(j uint8) uint8 {
	w, b := d.worker, d.burst
	i := w.fast.At[j]
	m, l, info := b.vec[i], &b.layers[i], &b.info[i]
	pktLen, was := m.PktLen(), m.DataLen()
	m.Pullup(min(pullupLen, pktLen))
	f := m.Bytes()
	if at := w.recognise(f, pktLen, was); at != fast.None {
		if w.fast.Set(j, at, f) {
			return d.ofINT(&w.fast.Keys[j], w.fast.Hashes[j])
		}
		return d.withoutINT(f, pktLen)
	}
	if packet.Parse(f, pktLen, l) != packet.OK {
		return 0
	}
	switch w.locator.Find(f, l, info, &b.outers[i]) {
	case inthdr.Sound:
		w.locator.Classify(info)
		w.sound(b, j, f)
		w.store(b, j, f)
		return d.ofINT(&w.fast.Keys[j], w.fast.Hashes[j])
	case inthdr.NotINT:
		if w.fast.MayStore() {
			w.fast.StoreNotINT(f, l)
		}
	}
	return d.withoutINT(f, pktLen)
}

// ofINT returns the hash of a packet with INT. k and hash are those of its flow.
func (d *dealing) ofINT(k *flows.Key, hash uint64) uint8 {
	if d.worker.locator.OfTunnel(k.Proto(), k.DstPort()) {
		at := d.ends(k)
		d.tunnels[at/64] |= 1 << (at % 64)
	}
	return partOf(hash)
}

// withoutINT is the hash of a packet that has no INT, or none that is sound. Fragments of a
// packet go one way: by their addresses.
func (d *dealing) withoutINT(f []byte, pktLen int) uint8 {
	w, l := d.worker, &d.layers
	if packet.Parse(f, pktLen, l) != packet.OK {
		return 0
	}
	for range inthdr.MaxDepth {
		at, etherType := w.locator.Inside(f, l)
		if at == 0 {
			break
		}
		layersKey(&d.key, f, l, &d.none)
		if at := d.ends(&d.key); d.tunnels[at/64]>>(at%64)&1 != 0 {
			break
		}
		if packet.ParseInner(f, at, int(l.End), etherType, &d.inner) != packet.OK {
			break
		}
		*l = d.inner
	}
	if l.Fragment != packet.NotFragment {
		l.SrcPort, l.DstPort = 0, 0
	}
	layersKey(&d.key, f, l, &d.none)
	return partOf(w.table.Hash(&d.key))
}

// ends is a number for the two ends of a tunnel.
func (d *dealing) ends(k *flows.Key) uint64 {
	of := *k
	of.SetPorts(k.Version(), 0, 0, 0)
	return d.worker.table.Hash(&of) % tunnelBits
}

// partOf is the part of all flows that one belongs to. The table of this worker takes other
// bits of the hash, which its own flows must not have in common.
func partOf(hash uint64) uint8 { return uint8(hash * 0x9e3779b97f4a7c15 >> 56) }

// Lost counts, reports and frees packets that found the ring of their worker full. They count
// as received by this worker.
func (d *dealing) Lost(v *mbuf.Vec, n int) {
	w, b := d.worker, d.burst
	c := &d.link.counters.Direction[ToHost]
	c.Received += uint64(n)
	c.Dropped[DropRingFull] += uint64(n)
	b.n, b.now = n, w.clock()
	for _, m := range v[:n] {
		if set, count := w.noFlowDrop(d.link, ToHost, DropRingFull, b.now); set != 0 {
			w.reportFrame(d.link, ToHost, b, set, m, DropRingFull, count)
		}
	}
	w.pool.FreeBulk(v, n)
}

// Unsent counts n packets as dropped that the worker has handed to q and that did not leave by
// the time everything stopped. The goroutine that polls has ended.
func (w *Worker) Unsent(q Queue, n int) {
	for i := range w.links {
		p := &w.links[i]
		to := ToHost
		if p.link.Network == q {
			to = ToNetwork
		} else if p.link.Host != q {
			continue
		}
		d := &p.counters.Direction[to]
		d.Forwarded -= uint64(n)
		d.Dropped[DropTxFull] += uint64(n)
	}
	w.Publish()
}
