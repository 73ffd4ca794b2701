//go:build amd64 && !purego && !race

package engine

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/intgen"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/engine/watch"
	"intsink/flows"
)

// twinPolicies are of all kinds that Lane tells apart.
func twinPolicies() []event.Policy {
	all := make([]event.Policy, 7)
	for i := range all {
		all[i] = allEvents()
		all[i].Sample = []uint32{0, 1, 2, 1000, 3, 0, 0}[i]
		all[i].Thresholds.Latency.Absolute = []uint32{10_000, 0, 1, 1<<31 - 1, 10_000, 10_000, 500}[i]
		all[i].Thresholds.EndToEnd.Absolute = []uint32{50_000, 0, 1, 1 << 31, 1<<32 - 1, 0, 0}[i]
		if i >= 5 {
			all[i].Events &^= event.EndToEnd.Set()
		}
	}
	all[6].Events &^= event.HopLatency.Set() // no flow is settled
	return all
}

// quietBed has flows for all packets of a burst.
type quietBed struct {
	*twinBed
	flows []flows.Flow
	memos [mbuf.MaxBurst]inthdr.Info // what the locator knew when packet j was added
	d     *event.Detector
	q     passState
}

func newQuietBed(t testing.TB, seed uint64) *quietBed {
	return &quietBed{
		twinBed: newTwinBed(t, seed, twinConfigs()["all kinds"]), flows: offHeapFlows(t, mbuf.MaxBurst), d: event.New(twinPolicies(), seed),
	}
}

// burst begins one of up to n packets.
func (t *quietBed) burst(n int) {
	b := t.begin(0)
	clear(t.flows)
	b.now = t.Int64N(1 << 62)
	t.q = passState{
		detector: t.d, policies: t.d.FastPolicies(), generation: t.Uint32N(4), now: b.now,
		noEpisode: !t.odds(10), tick: flows.Tick(b.now), refresh: uint32(b.now >> flows.RefreshShift),
	}
	if t.odds(3) { // no bit is set in what flows of the first watch are compared with
		t.q.policies[0], t.q.policies[5] = t.q.policies[5], t.q.policies[0]
	}
	for w := range t.q.policies {
		l := &t.q.policies[w]
		l.SampleLeft = pick(t.twinBed, l.SampleLeft, l.SampleEvery, 0, 1, 2, 0xffff, t.Uint32())
		l.WatchesFabric = t.odds(3)
		l.Raise, l.Latency, l.Tx = t.threshold(), t.threshold(), t.threshold()
	}
	for range n {
		if t.odds(5) && b.nINT > 0 {
			t.again()
		} else {
			t.add(t.known())
		}
	}
	b.nINT -= t.IntN(min(b.nINT, 2) + 1) // what stands behind is valid, and none of the twins' business
}

// threshold is one of few, so that values in packets are often at one.
func (t *quietBed) threshold() uint32 {
	return pick[uint32](t.twinBed, math.MaxUint32, math.MaxUint32, 150_000, 1<<24-1, 1<<31, 1, 0)
}

// add parses a packet as the worker does, and gives it a flow that it is mostly quiet in.
func (t *quietBed) add(f []byte) {
	b := t.b
	i := b.n
	for at := 58; at+12 <= len(f) && t.odds(3); at += 4 { // latencies and all, at random
		if t.odds(3) {
			binary.BigEndian.PutUint32(f[at:], pick(t.twinBed, 0, 1, math.MaxUint32, t.Uint32(), 1<<31, t.threshold(), t.threshold()-1, t.threshold()|0xff<<24))
		}
	}
	m := t.yard.put(i, f, len(f), 0)
	info := &b.info[i]
	switch t.locator.HeaderCache().Match(m.Bytes(), m.PktLen(), info) {
	case inthdr.CacheNotINT:
		return
	case inthdr.CacheUnknown:
		l := &b.layers[i]
		if packet.Parse(f, len(f), l) != packet.OK || t.locator.Find(m.Bytes(), l, info, &b.outers[i]) != inthdr.Sound {
			return
		}
		info.Size = l.End - info.Removed
		t.locator.Classify(info)
	}
	if info.Common && t.odds(4) { // the first segment ends with INT
		m = t.yard.put(i, f, int(info.End), mbuf.MaxBurst+i)
	}
	b.vec[i], b.places[b.nINT], b.flow[b.nINT] = m, uint8(i), &t.flows[b.nINT]
	t.settle(b.flow[b.nINT], f, info)
	t.disturb(b.nINT, t.know(b.nINT))
	b.n++
	b.nINT++
}

// know makes the info of packet j one that is filled or, where it is as others are, one
// that is still to be.
func (t *quietBed) know(j int) *inthdr.Info {
	b, info := t.b, &t.b.info[t.b.places[j]]
	if b.header[j], b.completed = info, b.completed|1<<j; !info.UDPv4 || t.odds(2) {
		return info
	}
	t.memos[j], *info = *info, inthdr.Info{} // of an earlier packet
	b.header[j], b.completed = &t.memos[j], b.completed&^(1<<j)
	t.memos[j].Discard, t.memos[j].Bitmap = t.odds(2), uint16(t.Uint32()) // beside what a sample has of its own
	for _, own := range []*uint16{&t.memos[j].Size, &t.memos[j].Orig, &info.Size, &info.Orig} {
		*own = uint16(t.Uint32())
	}
	for _, own := range []*uint8{&t.memos[j].DSCP, &t.memos[j].RemainingHops, &info.DSCP, &info.RemainingHops} {
		*own = uint8(t.Uint32())
	}
	return b.header[j]
}

// again adds a packet that was added before, of the same flow.
func (t *quietBed) again() {
	b := t.b
	from := t.IntN(b.nINT)
	m := b.vec[b.places[from]]
	f := m.AppendTo(nil, m.PktLen())
	b.vec[b.n] = t.yard.put(b.n, f, m.DataLen(), mbuf.MaxBurst+b.n)
	b.info[b.n] = b.info[b.places[from]]
	b.header[b.nINT] = b.header[from]
	if b.completed>>from&1 != 0 {
		b.header[b.nINT], b.completed = &b.info[b.n], b.completed|1<<b.nINT
	}
	b.places[b.nINT], b.flow[b.nINT] = uint8(b.n), b.flow[from]
	b.n++
	b.nINT++
}

// settle makes f one whose last packet was like this.
func (t *quietBed) settle(f *flows.Flow, frame []byte, info *inthdr.Info) {
	f.Generation, f.Watch = uint16(t.q.generation), uint8(t.IntN(len(t.q.policies)))
	if t.odds(3) {
		f.Watch = 0
	}
	l := &t.q.policies[f.Watch]
	sum := uint64(0)
	for n := range int(info.Hops) {
		at := int(info.Stack) + n*int(info.HopLen)
		if at+inthdr.BasicHopLen > len(frame) {
			break
		}
		hop := frame[at:]
		x := binary.BigEndian.Uint32(hop[8:])
		sum += uint64(x)
		if n < flows.MaxHops {
			f.Hops[n] = flows.Hop{
				Node: binary.LittleEndian.Uint32(hop), Interfaces: binary.LittleEndian.Uint32(hop[4:]),
				Ref: x - pick(t.twinBed, 0, l.Absolute, -l.Absolute, 1&l.Absolute),
			}
		}
	}
	if n := int(info.Hops); n < flows.MaxHops {
		f.Hops[n].Node = t.Uint32N(8) // behind those that count
	}
	end := uint32(min(l.End, 1<<31))
	f.EndRef = uint32(sum) - pick(t.twinBed, 0, end, -end, 1&end)
	if f.PathHops = uint8(info.Hops); info.Hops > flows.MaxHops {
		f.PathHops = uint8(t.IntN(flows.MaxHops + 1))
	}
	f.NextRefresh = t.q.refresh + pick(t.twinBed, 1, 1<<31-1, 1+t.Uint32N(1<<31-1))
	*field[uint8](t, f, "flags") = uint8(l.Flags) | uint8(t.IntN(256))&^l.Mask
	f.Key.SetUDP(t.Uint64(), uint16(f.Watch)|uint16(l.Flags)<<8, f.Generation) // what stands before is as what follows should be
	*field[uint32](t, f, "packets") = pick(t.twinBed, 0, math.MaxUint32-1, math.MaxUint32-2, t.Uint32())
	*field[uint32](t, f, "bytes") = pick(t.twinBed, 0, math.MaxUint32-uint32(info.Size), math.MaxUint32-2*uint32(info.Size), t.Uint32())
}

// disturb changes one thing, mostly by the least there is.
func (t *quietBed) disturb(j int, info *inthdr.Info) {
	b := t.b
	f := b.flow[j]
	l, hop := &t.q.policies[f.Watch], &f.Hops[t.IntN(max(1, min(int(info.Hops), flows.MaxHops)))]
	least := pick(t.twinBed, 1, math.MaxUint32, l.Absolute+1, -l.Absolute-1)
	switch t.IntN(60) {
	case 0:
		f.Generation ^= 1 << t.IntN(16)
	case 1:
		f.Watch = uint8(len(t.q.policies))
	case 2:
		f.Watch = watch.None
	case 3:
		b.flow[j] = nil
	case 4:
		*field[uint8](t, f, "flags") ^= 1 << t.IntN(8)
	case 5:
		f.NextRefresh = t.q.refresh + pick[uint32](t.twinBed, 0, math.MaxUint32, 1<<31, 1<<31+1)
	case 6:
		f.PathHops = uint8(max(int(info.Hops), 1)-1) % flows.MaxHops
	case 7:
		hop.Node ^= 1 << t.IntN(32)
	case 8, 9:
		hop.Ref += least
	case 10:
		hop.Interfaces ^= 1 << t.IntN(32)
	case 11, 12:
		f.EndRef += pick(t.twinBed, 1, math.MaxUint32, uint32(l.End)+1, -uint32(l.End)-1)
	case 13:
		*field[uint32](t, f, "packets") = math.MaxUint32
	case 14:
		*field[uint32](t, f, "bytes") = math.MaxUint32 - uint32(info.Size) + 1
	case 15:
		info.Common, info.Format = false, inthdr.Format(t.IntN(2))
	case 16:
		f.PathHops = uint8(t.IntN(flows.MaxHops + 1))
	case 17: // which the flow does not care for; what the locator knows always is
		info.UDPv4 = b.completed>>j&1 == 0
	case 18:
		f.Watch ^= 1 << t.IntN(8)
	}
}

// quietTwins compares the twins, and tells how many packets were quiet.
func (t *quietBed) quietTwins() (quiet int) {
	b := t.b
	s := stateOf(t.yard, b)
	addPart(s, "state", &t.q)
	addPart(s, "memos", &t.memos)
	for j := range b.nINT {
		if b.flow[j] != nil {
			addPart(s, "flow", b.flow[j])
		}
	}
	for w := range t.q.policies {
		addPart(s, "lane", &t.q.policies[w])
	}
	stops := s.twins(t, func() int { return b.nINT },
		func(from int) int { return passUnchanged(&t.q, b, from) },
		func(from int) int { return passUnchangedGo(&t.q, b, from) },
		func(j int) { b.complete(j); b.deferStrip(j) })
	return b.nINT - len(stops) + 1
}

func TestQuietTwins(t *testing.T) {
	x, quiet, all := newQuietBed(t, 6), 0, 0
	for n := range 1500 {
		x.burst(n % (mbuf.MaxBurst + 1))
		quiet += x.quietTwins()
		all += x.b.nINT
	}
	t.Logf("%d of %d packets were quiet", quiet, all)
	if quiet < all/4 {
		t.Errorf("%d of %d packets were quiet: most cases are not reached", quiet, all)
	}
}

// TestQuietTwinsOfFewLanes: flows of watches that there are no longer, and no watch at all.
func TestQuietTwinsOfFewLanes(t *testing.T) {
	x := newQuietBed(t, 13)
	for n := range 200 {
		x.burst(n % (mbuf.MaxBurst + 1))
		lanes := x.q.policies
		if x.q.policies = lanes[:n%len(lanes)]; n%len(lanes) == 0 && x.odds(2) {
			x.q.policies = nil
		}
		x.quietTwins()
	}
}

// TestQuietTwinsOfManyHops: up to 17 hops, which are one more than a flow knows, with
// hops as short as they may be and longer.
func TestQuietTwinsOfManyHops(t *testing.T) {
	for _, bitmap := range []uint16{0xe000, 0xf000, 0xe001} {
		x, quiet := newQuietBed(t, 7), 0
		for hops := range 17 {
			for range 30 {
				x.burst(0)
				x.base = nil
				x.add(manyHops(t, x, bitmap, hops+1))
				x.again()
				quiet += x.quietTwins()
			}
		}
		if quiet < 200 {
			t.Errorf("%04x: only %d packets were quiet", bitmap, quiet)
		}
	}
}

// addPlain adds a packet to b.rest that is nothing but a UDPv4 Info: headers at random,
// INT of n bytes, and a payload.
func (t *twinBed) addPlain(n, payload int, fill func(int) []byte) {
	b := t.b
	i := b.n
	f := fill(42 + n + payload)
	size := uint16(n + pick(t, 0, 28, t.IntN(1500))) // of IP, and that of UDP as it says
	binary.BigEndian.PutUint16(f[16:], size)
	binary.BigEndian.PutUint16(f[38:], size-20)
	m := t.yard.put(i, f, pick(t, len(f), 42+n), mbuf.MaxBurst+i)
	b.vec[i] = m
	b.info[i] = inthdr.Info{
		UDPv4: true, Common: t.odds(2), Reason: inthdr.Reason(t.IntN(2)), HopExceeded: t.odds(2), DSCP: uint8(t.IntN(64)),
		End: uint16(42 + n), Removed: uint16(n), Orig: binary.BigEndian.Uint16(f[44:]), Size: 14 + size - uint16(n),
	}
	j := mbuf.MaxBurst - 1 - i
	b.header[j], b.places[j], b.deferred[b.nDeferred] = &b.info[i], uint8(i), uint8(j)
	b.nDeferred++
	b.n++
}

func (t *twinBed) stripTwins() {
	b := t.b
	stateOf(t.yard, b).twins(t, func() int { return b.nDeferred },
		func(from int) int { return stripUDPv4(b, from) },
		func(from int) int { return stripUDPv4Go(b, from) }, func(int) {})
}

func (t *twinBed) random(n int) []byte {
	f := make([]byte, n)
	for i := range f {
		f[i] = byte(t.Uint32())
	}
	return f
}

// TestStripTwins: INT of every length, in packets of random bytes, of ones and of
// zeros; packets that are not stripped in between.
func TestStripTwins(t *testing.T) {
	x := newTwinBed(t, 8, inthdr.Config{})
	fills := []func(n int) []byte{
		x.random, x.random,
		func(n int) []byte { return make([]byte, n) },
		func(n int) []byte { return slices.Repeat([]byte{0xff}, n) },
		func(n int) []byte { // without a checksum
			f := x.random(n)
			f[40], f[41] = 0, 0
			return f
		},
		func(n int) []byte { // with half of one
			f := x.random(n)
			f[40+x.IntN(2)] = 0
			return f
		},
		func(n int) []byte { // with many zeros in and around UDP
			f := x.random(n)
			for i := 34; i < 50; i++ {
				f[i] *= byte(x.IntN(2))
			}
			return f
		},
	}
	for n := 16; n <= 1024; n += 4 {
		b := x.begin(0)
		for range 20 {
			x.addPlain(n, x.IntN(64), pick(x, fills...))
		}
		x.Shuffle(b.nDeferred, func(i, j int) { b.deferred[i], b.deferred[j] = b.deferred[j], b.deferred[i] })
		info := &b.info[x.IntN(20)]
		info.UDPv4, info.Discard = x.odds(2), x.odds(2)
		b.nDeferred -= x.IntN(2)
		x.stripTwins()
	}
}

// TestStripTwinsNegativeZero: checksums of UDP that come out as all ones, which zero
// would mean that there is none, and all that those of IPv4 may come out as.
func TestStripTwinsNegativeZero(t *testing.T) {
	x, ones := newTwinBed(t, 9, inthdr.Config{}), 0
	for n := 16; n <= 1024; n += 4 {
		b := x.begin(0)
		for range 4 {
			f := x.random(42 + n + 8)
			x.addPlain(n, 8, func(int) []byte { return f })
			i := b.n - 1
			head := uint16(n)
			shrink := head<<8 | head>>8
			binary.LittleEndian.PutUint16(b.vec[i].Bytes()[24:], pick(x, 0, 0xffff, shrink, ^shrink, shrink+1, shrink-1))
			binary.LittleEndian.PutUint16(b.vec[i].Bytes()[40:], ^uint16(0))
			g := slices.Clone(b.vec[i].Bytes())
			b.vec[i] = x.yard.put(i, g, len(g), 0)
			one := x.yard.only(2*mbuf.MaxBurst-1, g)
			to, was := stripped(x, one, &b.info[i])
			// Another checksum field moves the result by as much: to all ones, or beside it.
			field := uint32(was) + 2*0xffff - uint32(to) + pick[uint32](x, 0, 0, 1)
			field = (field-1)%0xffff + 1
			binary.LittleEndian.PutUint16(b.vec[i].Bytes()[40:], uint16(field))
		}
		x.stripTwins()
		for i := range b.n {
			if binary.LittleEndian.Uint16(b.vec[i].Bytes()[40:]) == 0xffff {
				ones++
			}
		}
	}
	if ones < 500 {
		t.Errorf("only %d checksums came out as all ones", ones)
	}
}

// stripped takes INT out of one packet, in Go, and returns its checksum of UDP then and
// before, in the machine's order.
func stripped(t *twinBed, m *mbuf.Mbuf, info *inthdr.Info) (to, was uint16) {
	b := &burst{vec: mbuf.NewVec(), nDeferred: 1}
	b.vec[0], b.header[0] = m, info
	was = binary.LittleEndian.Uint16(m.Bytes()[40:])
	if stripUDPv4Go(b, 0) != 1 {
		t.Fatal("not stripped")
	}
	return binary.LittleEndian.Uint16(m.Bytes()[40:]), was
}

// manyHops is a packet with INT of so many hops.
func manyHops(t testing.TB, x *quietBed, bitmap uint16, n int) []byte {
	hops := make([]intgen.Hop, n)
	for i := range hops {
		hops[i] = intgen.Hop{NodeID: x.Uint32(), Ingress: uint16(x.Uint32()), Egress: uint16(x.Uint32()), LatencyNs: x.Uint32N(pick[uint32](x.twinBed, 1<<27, 1<<27, math.MaxUint32))}
	}
	s := intgen.Source{UDPPort: twinPort, Bitmap: bitmap, MaxHops: 20}
	f, err := s.Insert(plain(n), hops)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
