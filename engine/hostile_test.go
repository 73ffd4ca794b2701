package engine

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"intsink/dpdk/mbuf"
	"intsink/engine/aside/verify"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/wire/ifa"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
	"intsink/engine/wire/report"
	"intsink/exporters/record"
	"intsink/exporters/record/recordtest"
	"intsink/internal/hostile"
	"intsink/internal/rounds"
)

const pageLen = 4096

// guardedArena is an arena of buffers whose last page can be neither read nor written.
func guardedArena(t *testing.T, n int) *mbuf.Arena {
	a, err := mbuf.NewArena(n, 3*pageLen-int(unsafe.Sizeof(mbuf.Mbuf{})))
	if err != nil {
		t.Fatal(err)
	}
	for v, left := mbuf.NewVec(), n; left > 0; {
		k := min(len(v), left)
		a.AllocBulk(v, k)
		for _, m := range v[:k] {
			m.Reset(0)
			all := m.SetLen(m.Room())
			if err := syscall.Mprotect(all[len(all)-pageLen:], syscall.PROT_NONE); err != nil {
				t.Fatal(err)
			}
		}
		all := *v
		defer a.FreeBulk(&all, k)
		left -= k
	}
	return a
}

// atTheEnd moves packets of one segment to where memory ends: to read or write one byte more is a
// fault.
type atTheEnd struct{ *chainQueue }

func (q atTheEnd) RxBurst(v *mbuf.Vec) int {
	n := q.chainQueue.RxBurst(v)
	for _, m := range v[:n] {
		if f := bytes.Clone(m.Bytes()); m.NbSegs() == 1 {
			m.Reset(0)
			m.Reset(m.Room() - pageLen - len(f))
			copy(m.SetLen(len(f)), f)
		}
	}
	return n
}

func (q atTheEnd) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return q.TxBurst(tx, n), q.RxBurst(rx)
}

// TestHostile: of packets that are mutated at random a worker with templates makes what one makes
// that parses each packet. That goes for reports, too, but those of queues, interfaces and links: a
// packet without a template that opens an episode is seen by the others of its burst only where
// each is parsed. Nor does it where flows are what is inside of tunnels: a template does not hold
// the length of the packet inside against that of the whole. What leaves is the packet as it came or, where it counts INT, shorter;
// no checksum that was right is wrong then; counters add up, mbufs come home; and the collector can
// read each report. make hostile plays many, with sanitizers.
func TestHostile(t *testing.T) {
	nested, all := nestedFrames(t), manyRules()
	names := slices.Sorted(maps.Keys(all))
	pools := [2]*mbuf.Arena{guardedArena(t, 512), guardedArena(t, 512)} // a process has room for 64 of them
	hostile.Play(t, rounds.Of(60_000, 20), func(r *rand.Rand) int {
		name := names[r.IntN(len(names))]
		markings, portable, checked := r.IntN(3), r.IntN(4) == 0, r.IntN(2) == 0 && name != "checksums kept" // which intgen restores
		h := &hostiles{r: r, nested: nested, exact: r.IntN(2) == 0 && name != "flows by what is inside"}
		defer func() {
			if t.Failed() {
				t.Logf("rules: %s; markings %d, portable %t, checked %t, exact %t", name, markings, portable, checked, h.exact)
			}
		}()
		for i, b := range []**linksBed{&h.quick, &h.long} {
			*b = newLinksBed(t, name == "tap", func(r *Rules) {
				if marker := uint64(0x0102030405060708); markings == 1 {
					x := *r.INT.IFA
					x.Marker, r.INT.ProbeMarker, r.INT.IFA = ifa.MarkerOfH3C, &marker, &x
				} else if markings == 2 {
					r.INT.DSCP = []inthdr.DSCP{{Value: 23, Mask: 63}}
				}
				r.INT.IOAM = &ioam.Config{Namespaces: []uint16{123}, FlowSequence: true}
				if all[name](r); checked {
					r.Verify = 1
				}
				for i := range r.Watches {
					if h.exact {
						r.Watches[i].Policy.Events &^= event.Congestion.Set() | event.TxUtilization.Set() | event.LinkLatency.Set()
					}
				}
			})
			(*b).atTheEnd(pools[i], name == "tap")
			if portable && i == 0 {
				h.quick.burst.Fast.Portable()
			}
		}
		for n := range rounds.Of(100, 4) {
			if h.round(t, name == "tap", n); t.Failed() {
				break
			}
		}
		h.end(t)
		return h.played
	})
}

// atTheEnd makes packets end where memory ends, in mbufs of pool.
func (b *linksBed) atTheEnd(pool *mbuf.Arena, tap bool) {
	before := b.pool
	defer before.Close()
	b.pool = pool
	for _, q := range b.ports {
		q.Pool = b.pool
	}
	b.remake(func(c *WorkerConfig) {
		c.PacketPool = b.pool
		for i := range c.Links {
			c.Links[i].Network, c.Links[i].Host = atTheEnd{b.ports[2*i]}, atTheEnd{b.ports[2*i+1]}
		}
		if tap {
			c.Links[0].Host = nil
		}
	})
}

// hostiles are two workers that get the same packets.
type hostiles struct {
	r           *rand.Rand
	nested      [][]byte
	kinds       [][]byte // of the packets that are sent now
	quick, long *linksBed
	exact       bool // also the same reports
	played      int
}

// round sends some packets to both, and compares what they make of them.
func (h *hostiles) round(t *testing.T, tap bool, n int) {
	if n%10 == 0 {
		h.draw(t)
	}
	x := newRound(t, h.r, tap, h.nested)
	for port := range x.frames {
		for i := range x.frames[port] {
			x.frames[port][i] = h.frame()
			h.played++
		}
	}
	if n%6 == 0 {
		x.rules = uint64(n) + 1
	}
	before := h.quick.counters.Links
	before = slices.Clone(before)
	h.quick.live(&x)
	h.long.forget()
	h.long.live(&x)
	got, want := h.quick.handedOver(), h.long.handedOver()
	if h.exact && !reflect.DeepEqual(got, want) {
		quick, long := inJSON(got), inJSON(want)
		for i := 0; i < min(len(quick), len(long)) && quick[0] == long[0]; i++ {
			quick, long = quick[1:], long[1:]
		}
		t.Errorf("round %d: %d reports are left, the long way has %d; the first\n%s\n%s", n, len(quick), len(long), append(quick, "")[0], append(long, "")[0])
		return
	}
	for _, p := range slices.Concat(slices.Concat(got...), slices.Concat(want...)) {
		_, payload := report.TakeHandoff(p)
		recordtest.Decode(t, payload)
	}
	if h.exact {
		h.quick.sameAs(t, h.long)
		return
	}
	for i, q := range h.quick.ports {
		if !reflect.DeepEqual(q.TX, h.long.ports[i].TX) {
			t.Errorf("round %d, port %d: %s", n, i, firstDifference(q.TX, h.long.ports[i].TX))
		}
	}
	if got, want := h.quick.counters.Links, h.long.counters.Links; !reflect.DeepEqual(got, want) {
		t.Errorf("round %d: counters %+v, the long way %+v", n, got, want)
	}
	h.changed(t, &x, before, n)
}

// inJSON is what is in report packets.
func inJSON(of [][][]byte) (all []string) {
	d := record.NewDecoder(record.Options{})
	for _, p := range slices.Concat(of...) {
		_, payload := report.TakeHandoff(p)
		d.Records(payload, &record.Origin{}, func(r *record.Record) { all = append(all, string(record.AppendJSON(nil, r))) })
	}
	return all
}

// changed checks that no more packets leave otherwise than they came than are counted.
func (h *hostiles) changed(t *testing.T, x *round, before []LinkCounters, n int) {
	for link := range before {
		was, is := &before[link], &h.quick.counters.Links[link]
		counted := is.ToNetwork.Leaked - was.ToNetwork.Leaked
		counted += is.ToNetwork.Marked[tonetwork.MarkCleared] - was.ToNetwork.Marked[tonetwork.MarkCleared]
		for i := range is.INT {
			counted += is.INT[i] - was.INT[i]
		}
		changed := uint64(0)
		for d := range 2 {
			in := map[string]bool{}
			for _, f := range x.frames[2*link+d] {
				in[string(f)] = true
			}
			for _, f := range h.quick.ports[2*link+1-d].TX {
				if !in[string(f)] {
					changed++
				}
			}
		}
		if changed > counted {
			t.Errorf("round %d, link %d: %d packets leave otherwise than they came, %d had INT", n, link, changed, counted)
		}
	}
}

// draw makes the kinds of packets that are sent next: few, so that bursts have many of a template.
func (h *hostiles) draw(t *testing.T) {
	h.kinds = h.kinds[:0]
	for len(h.kinds) < 12 {
		if h.r.IntN(3) == 0 {
			h.kinds = append(h.kinds, anyFrame(t, h.r, h.nested))
			continue
		}
		orig, s, hops := intgen.Random(h.r)
		switch h.r.IntN(8) {
		case 0, 1:
			orig, s, hops = intgen.RandomIFA(h.r)
		case 2:
			orig, s, hops = intgen.RandomIOAM(h.r)
		case 3:
			h.kinds = append(h.kinds, withIFA1(t, plain(h.r.IntN(9))))
		}
		if f, err := s.Insert(orig, hops); err == nil && len(f) < 1900 {
			h.kinds = append(h.kinds, f)
		}
	}
}

// frame is a packet to send: of two, one is mutated.
func (h *hostiles) frame() []byte {
	f := h.kinds[h.r.IntN(len(h.kinds))]
	if h.r.IntN(2) == 0 {
		return f
	}
	return hostile.Mutate(h.r, f, h.kinds[h.r.IntN(len(h.kinds))], 2, 2000)
}

// end closes both, and adds up.
func (h *hostiles) end(t *testing.T) {
	for _, b := range []*linksBed{h.quick, h.long} {
		b.Publish()
		for i, l := range b.Snapshot().Links {
			if n := l.Verify.Verified[verify.Bad]; n > 0 {
				t.Errorf("link %d: %d checksums were right, and are wrong", i, n)
			}
			if d := l.Direction[burst.ToHost]; d.Received == 0 {
				t.Errorf("link %d has received nothing", i)
			}
		}
		b.Close()
		b.handedOver()
		b.balance()
		b.Release()
		b.reports.Close()
	}
}
