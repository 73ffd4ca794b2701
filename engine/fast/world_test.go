package fast

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"syscall"
	"testing"
	"unsafe"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
	"intsink/flows"
)

const pageLen = 4096

// guarded are mbufs whose data ends where memory ends: to read or write one byte more is a
// fault.
type guarded struct{ pages [][]byte }

func newGuarded(t testing.TB, n int) *guarded {
	b, err := syscall.Mmap(-1, 0, 2*n*pageLen, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(b) })
	g := &guarded{}
	for i := range n {
		p := b[2*i*pageLen:]
		if err := syscall.Mprotect(p[pageLen:][:pageLen], syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
		g.pages = append(g.pages, p[:pageLen:pageLen])
	}
	return g
}

// put makes mbuf i a packet whose first segment is data. Of the rest there is but the length.
func (g *guarded) put(i int, data []byte, pktLen int) *mbuf.Mbuf {
	p, l := g.pages[i], mbuf.Layout()
	clear(p)
	head := int(l[10])
	*(*unsafe.Pointer)(unsafe.Pointer(&p[l[0]])) = unsafe.Pointer(&p[head])
	*(*uint16)(unsafe.Pointer(&p[l[1]])) = uint16(pageLen - head - len(data))
	*(*uint32)(unsafe.Pointer(&p[l[6]])) = uint32(pktLen)
	*(*uint16)(unsafe.Pointer(&p[l[7]])) = uint16(len(data))
	*(*uint16)(unsafe.Pointer(&p[l[8]])) = uint16(pageLen - head)
	copy(p[pageLen-len(data):], data)
	return (*mbuf.Mbuf)(unsafe.Pointer(&p[0]))
}

// world is a worker in small: the same in C and in Go.
type world struct {
	*Path
	t        testing.TB
	table    *flows.Table
	detector *event.Detector
	locator  *inthdr.Locator
	memory   *guarded
	vec      *mbuf.Vec
	passed   int
	stored   int
	tried    int // packets of the last burst that were parsed
	asks     Facts

	unwatched bool
}

func newWorld(t testing.TB, c inthdr.Config, policies []event.Policy, portable bool) *world {
	w := &world{
		t: t, table: flows.New(flows.Config{Capacity: 1024, Seed: 5, IdleTimeout: 30e9}), detector: event.New(policies, 7),
		locator: inthdr.NewLocator(c), memory: newGuarded(t, mbuf.MaxBurst), vec: mbuf.NewVec(),
	}
	t.Cleanup(func() { w.table.Close(); w.detector.Close() })
	w.Path = New(w.table.Index(), w.detector.View())
	w.Configure(w.locator.Marks())
	w.portable = w.portable || portable
	return w
}

// marked is a packet of f with INT-MD of so many hops, all of whose values are zero.
func marked(t testing.TB, f *intgen.Flow, bitmap uint16, hops int) []byte {
	s := intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Type: intgen.TypeMD, Bitmap: bitmap, MaxHops: 15}
	frame, err := s.Insert(f.Frame(64, 0), make([]intgen.Hop, hops))
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// of takes whole packets through all steps.
func (w *world) of(frames ...[]byte) {
	lens := make([]int, len(frames))
	for i, f := range frames {
		lens[i] = len(f)
	}
	w.burst(1e18, frames, lens, 0)
}

// passes takes one packet through all steps, and tells whether it gave no event.
func (w *world) passes(frame []byte) bool {
	before := w.passed
	w.of(frame)
	return w.passed > before && w.Met == 0
}

// receive puts packets into the vector, and takes them through the steps before the parser.
func (w *world) receive(now int64, frames [][]byte, lens []int, look uint8) {
	for i, f := range frames {
		w.vec[i] = w.memory.put(i, f, lens[i])
	}
	w.Receive(&Burst{Vec: w.vec, N: len(frames), Now: now, Watched: !w.unwatched, Strip: !w.unwatched || now%3 != 0, Look: look, Facts: w.asks})
}

// burst takes packets through all steps, with what package engine does in between.
func (w *world) burst(now int64, frames [][]byte, lens []int, look uint8) {
	w.receive(now, frames, lens, look)
	parsed := w.Unknown
	w.tried = 0
	if parsed != 0 {
		gone := uint64(0)
		for left := parsed; left != 0; left &= left - 1 {
			if j := uint8(bits.TrailingZeros64(left)); !w.parse(j) {
				gone |= 1 << j
			}
		}
		w.Drop(gone)
		w.Find()
	}
	if w.unwatched {
		w.stripRest(parsed != 0)
		return
	}
	n, fresh := w.Len(), uint64(0)
	if n == 0 {
		return
	}
	if parsed != 0 || w.Missing != 0 {
		fresh = w.table.Resolve(now, w.Keys[:n], w.Hashes[:n], w.Flows[:n], w.Missing)
		w.Pass()
	}
	w.passed += n - len(w.Deferred())
	rest := w.Samples | w.Kept
	for _, j := range w.Deferred() {
		w.deferredOne(now, j, fresh>>j&1 != 0)
		rest |= 1 << j
	}
	w.Strip(rest)
}

// stripRest takes INT out of packets that nobody watches, where Receive has not done it.
func (w *world) stripRest(parsed bool) {
	if n := w.Len(); parsed || len(w.Deferred()) > 0 {
		w.Strip(1<<n - 1)
	} else {
		w.passed += n
	}
}

// parse tells whether packet j has a template now.
func (w *world) parse(j uint8) bool {
	m := w.vec[w.At[j]]
	f := m.Bytes()
	var l packet.Layers
	var i inthdr.Info
	var o inthdr.Outers
	if at := w.RecogniseNew(f, m.PktLen()); at != None {
		return w.Set(j, at, f)
	}
	w.tried++
	if packet.Parse(f, m.PktLen(), &l) != packet.OK {
		return false
	}
	switch w.locator.Find(f, &l, &i, &o) {
	case inthdr.NotINT:
		if w.MayStore() {
			w.StoreNotINT(f, &l)
		}
	case inthdr.Sound:
		w.locator.Classify(&i)
		want := bytes.Clone(f)
		want = want[strip.Strip(want, &l, &i, &o):]
		k := Parsed{Frame: f, PktLen: m.PktLen(), Layers: &l, Info: &i, Layout: w.locator.Layout(&i), Outers: &o}
		k.IFA, k.Longest = w.locator.IFALayout(f, &i)
		k.NumberAt, k.NumberLen = w.locator.Place(&i, inthdr.Sequence)
		if w.MayStore() && w.Store(&k, want) {
			w.stored++
			return w.Set(j, w.Recognise(f, m.PktLen()), f)
		}
	}
	return false
}

// deferredOne is what the events make of a packet that was deferred.
func (w *world) deferredOne(now int64, j uint8, fresh bool) {
	flow, m := w.Flows[j], w.vec[w.At[j]]
	if flow == nil {
		return
	}
	flow.Release()
	if w.Hashes[j]%4 != 0 {
		flow.Cold() // or none of its samples could be shed
	}
	var l packet.Layers
	var i inthdr.Info
	var o inthdr.Outers
	f := m.Bytes()
	w.Fill(w.Template[j], f, m.PktLen(), &l, &i, &o)
	w.locator.Again(f, &i)
	flow.Count(i.Size)
	if t := &w.templates[w.Template[j]]; w.asks.Asks != 0 && t.sound != 0 {
		flow.Facts = t.factsOf(w.State, f)
	}
	if flow.Watch = uint8(w.Hashes[j] % uint64(w.detector.View().Len()+1)); int(flow.Watch) == w.detector.View().Len() {
		flow.Watch = math.MaxUint8 // that of no watch
		return
	}
	number, bits := w.locator.Sequence(f, &i)
	h := w.locator.Hops(f, &i)
	w.detector.Packet(now, flow, fresh, int(flow.Watch), &event.Observation{
		Frame: h.Frame, Info: h.Info, FlowHash: w.Hashes[j], Common: i.Common, Layout: w.locator.Layout(h.Info), Sequence: number, SequenceBits: bits,
	})
}

// compare tells what differs between two worlds after the same bursts; "" if nothing does. Hints may
// and guesses may differ: C guesses by those that were there before the burst, and remembers another shape last.
func (w *world) compare(o *world, n int) string {
	a, b := w.State, o.State
	switch {
	case a.ints != b.ints || !bytes.Equal(a.At[:a.ints], b.At[:b.ints]):
		return "places"
	case a.Types != b.Types:
		return "how many are of INT-MX, with IFA and marked"
	case a.Unknown != b.Unknown || a.Missing != b.Missing || a.Samples != b.Samples || a.Met != b.Met || a.Kept != b.Kept || a.Tallied != b.Tallied:
		return "bits"
	case a.Met != 0 && !sameMet(a, b):
		return "what is told of full queues"
	case !bytes.Equal(a.Template[:a.ints], b.Template[:b.ints]) || !bytes.Equal(w.Deferred(), o.Deferred()):
		return "templates or the deferred"
	case a.shapes != b.shapes || a.kinds != b.kinds || a.ofKind != b.ofKind || a.shape != b.shape || a.templates != b.templates:
		return "what is known"
	case *w.detector.View() != *withLinksOf(o.detector.View(), w.detector.View()):
		return "the view"
	case w.detector.Counters != o.detector.Counters:
		return "counters"
	}
	for j := range a.ints {
		if a.Hashes[j] != b.Hashes[j] || (a.Flows[j] == nil) != (b.Flows[j] == nil) || a.Flows[j] != nil && !sameFlow(a.Flows[j], b.Flows[j]) {
			return "a flow"
		}
	}
	l := mbuf.Layout()
	for i := range n {
		p, q := w.memory.pages[i], o.memory.pages[i]
		if !bytes.Equal(p[l[1]:], q[l[1]:]) {
			return "a packet"
		}
	}
	return ""
}

func sameMet(a, b *State) bool {
	for met := a.Met; met != 0; met &= met - 1 {
		j := bits.TrailingZeros64(met)
		if a.FullHops[j] != b.FullHops[j] {
			return false
		}
	}
	return true
}

// sameFlow compares all but addresses of memory.
func sameFlow(a, b *flows.Flow) bool {
	if a.HasLoss() != b.HasLoss() || a.HasCold() != b.HasCold() || a.HasCold() && a.Cold().Shed != b.Cold().Shed {
		return false
	}
	if a.HasLoss() {
		x, _ := a.Loss()
		y, _ := b.Loss()
		if *x != *y {
			return false
		}
	}
	const size = unsafe.Sizeof(flows.Flow{})
	x, y := (*[size]byte)(unsafe.Pointer(a)), (*[size]byte)(unsafe.Pointer(b))
	return bytes.Equal(x[:size-16], y[:size-16])
}

func withLinksOf(v, of *event.FastView) *event.FastView {
	c := *v
	c.LinksOf(of)
	return &c
}

// factsOf is the hash of the facts that watches ask for, as package engine has it for a parsed packet.
func (t *Template) factsOf(s *State, f []byte) uint32 {
	be, word, h := binary.BigEndian, uint64(0), uint64(0)
	mix := func(v uint64) { h = bits.RotateLeft64((h^v)*s.factsKey, 32) }
	if s.asks&AsksVLAN != 0 && t.vlanAt != 0 {
		word = uint64(be.Uint16(f[t.vlanAt:]) & 0xfff)
	}
	if s.asks&AsksDSCP != 0 {
		dscp := uint64(t.dscp)
		if t.dscpAt != 0 {
			dscp = uint64(be.Uint16(f[t.dscpAt:]) >> t.dscpShift & 0x3f)
		}
		word |= dscp << 16
	}
	if s.asks&AsksLayer != 0 {
		word |= uint64(t.inside) << 24
	}
	mix(word)
	if s.asks&AsksDevice != 0 {
		for i := range uint32(t.allHops) {
			mix(uint64(be.Uint32(f[t.stack+i*t.hopLen:])))
		}
	}
	mix(1)
	return uint32(h >> 32)
}
