package engine

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/aside/capture"
	"intsink/engine/aside/checksum"
	"intsink/engine/aside/mitigate"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/selector"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// wholePackets captures all packets, whole, at both stages.
var wholePackets = capture.Filter{Stages: capture.Both, SnapLength: capture.MaxSnap}

// capturing begins a capture of what change makes of wholePackets.
func (b *bed) capturing(rate float64, change func(*capture.Filter)) *capture.Capture {
	f := wholePackets
	if change != nil {
		change(&f)
	}
	c := capture.New(f, math.MaxInt64, rate, 1<<18)
	b.Captures.Capture(c)
	if c.Begun() {
		b.t.Error("the capture has begun before the worker looked")
	}
	b.step(tickNs)
	if !c.Begun() {
		b.t.Error("the capture has not begun")
	}
	return c
}

// taken ends the capture and returns what it took, as text, and the packets.
func (b *bed) taken(c *capture.Capture) (texts []string, packets [][]byte) {
	b.t.Helper()
	b.Captures.Capture(nil)
	b.step(tickNs)
	if !c.Ended() {
		b.t.Error("the capture has not ended")
	}
	var r capture.Record
	for c.Next(&r) {
		texts, packets = append(texts, textOf(&r)), append(packets, bytes.Clone(r.Data))
		c.Done()
	}
	return texts, packets
}

// textOf says what a record is: "net in", "host out", and what is known of the packet.
func textOf(r *capture.Record) string {
	s := "net"
	if r.Host {
		s = "host"
	}
	if r.Out {
		s += " out"
	} else {
		s += " in"
	}
	if r.Watch != "" {
		s += " " + r.Watch
	}
	for e := range event.NumEvents {
		if r.Events.Has(event.Event(e)) {
			s += " " + event.Event(e).String()
		}
	}
	if r.Malformed != 0 {
		s += " malformed=" + r.Malformed.String()
	}
	if r.Dropped {
		s += " drop=" + burst.DropReason(r.Reason).String()
	}
	return s
}

// sameTexts compares what a capture has taken.
func sameTexts(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("captured\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestCaptureBeforeAndAfterINT: packets both ways, as they came and as they left.
func TestCaptureBeforeAndAfterINT(t *testing.T) {
	b := explained(t, nil)
	one, leak := withINT(t, plain(1), nil), withINT(t, plain(5), nil)
	b.pass(one)
	c := b.capturing(1e6, nil)
	b.now += 7
	at := b.now
	b.host.RX = [][]byte{plain(3), bytes.Clone(leak)}
	host, _ := b.pass(one, withINT(t, plain(2), nil), plain(4))
	sameFrames(t, host, plain(1), plain(2), plain(4))
	sameFrames(t, b.network.TX, plain(3), leak)
	var r capture.Record
	if b.Poll(); !c.Next(&r) || r.Time != at || r.Len != len(one) || r.Link != 0 {
		t.Errorf("the first packet: %+v, want time %d and %d bytes", r, at, len(one))
	}
	texts, packets := b.taken(c)
	sameTexts(t, texts, "net in all", "net in all new_flow", "net in", "host out all", "host out all new_flow", "host out", "host in", "host in leak", "net out", "net out leak")
	sameFrames(t, packets, one, withINT(t, plain(2), nil), plain(4), plain(1), plain(2), plain(4), plain(3), leak, plain(3), leak)
	b.pass(one)
	if c.Next(&r) {
		t.Error("a packet is captured after the end")
	}
	b.balance()
}

// captured is what a filter takes of frames, each a burst of its own. Drops: flow 9 is
// dropped by a rule, what is malformed is dropped, and the host's port takes no flow 8.
func captured(t *testing.T, change func(*capture.Filter), frames ...[]byte) []string {
	t.Helper()
	b := mitigated(t, func(r *Rules) {
		r.DropMalformed = true
		r.Watches = []watch.Watch{{Name: "web", Match: r.Watches[0].Match, Policy: allEvents(), Collectors: 1}, {Name: "all", Policy: allEvents(), Collectors: 1}}
		r.Watches[0].DestinationPort = []watch.PortRange{{First: 80, Last: 80}}
	})
	nine := selector.Match{Source: flowOne.Source}
	b.Mitigate(mitigate.New([]*mitigate.Rule{b.rule(nine, mitigate.Drop, 0)}))
	c := b.capturing(1e6, change)
	for _, f := range frames {
		if bytes.Equal(f[len(f)-4:], []byte{8, 8, 8, 8}) {
			b.host.Room = 0
		}
		b.pass(f)
		b.host.Room = unlimited
	}
	texts, _ := b.taken(c)
	b.balance()
	return texts
}

// TestCaptureFilters: which of a set of packets each filter takes.
func TestCaptureFilters(t *testing.T) {
	dropped, known := withINT(t, plain(1), nil), withINT(t, plain(2), nil)
	web := withINT(t, (&intgen.Flow{Src: flowOne.Destination[0].Addr().Next(), Dst: flowOne.Source[0].Addr(), Proto: intgen.UDP, SrcPort: 1, DstPort: 80}).Frame(20, 1), nil)
	malformed := withINT(t, plain(3), nil)
	malformed[43] = 0xf0 // the shim's Length
	discard := withINT(t, plain(4), func(s *intgen.Source, _ []intgen.Hop) { s.Discard = true })
	full := withINT(t, plain(5), nil)
	copy(full[len(full)-4:], []byte{8, 8, 8, 8})
	frames := [][]byte{dropped, known, web, malformed, discard, full, plain(6)}
	reason := func(r burst.DropReason) func(*capture.Filter) { return func(f *capture.Filter) { f.Dropped = 1 << r } }
	for _, x := range []struct {
		name   string
		change func(*capture.Filter)
		want   []string
	}{
		{"everything", nil, []string{
			"net in all new_flow drop=mitigation", "net in all new_flow", "host out all new_flow", "net in web new_flow", "host out web new_flow",
			"net in malformed malformed=shim_length drop=malformed", "net in all new_flow drop=int_discard", "net in all new_flow drop=tx_full", "host out all new_flow drop=tx_full",
			"net in", "host out",
		}},
		{"as they came", func(f *capture.Filter) { f.Stages = capture.In; f.Watches = []string{"web"} }, []string{"net in web new_flow"}},
		{"as they left", func(f *capture.Filter) { f.Stages = capture.Out; f.Watches = []string{"web", "x"} }, []string{"host out web new_flow"}},
		{"an event", func(f *capture.Filter) { f.Events = event.Malformed.Set() | event.Leak.Set() }, []string{"net in malformed malformed=shim_length drop=malformed"}},
		{"two things", func(f *capture.Filter) { f.Watches, f.Events = []string{"web"}, event.Malformed.Set() }, nil},
		{"mitigation", reason(burst.DropRule), []string{"net in all new_flow drop=mitigation"}},
		{"int_discard", reason(burst.DropDiscard), []string{"net in all new_flow drop=int_discard"}},
		{"tx_full", reason(burst.DropTxFull), []string{"host out all new_flow drop=tx_full"}},
		{"malformed", func(f *capture.Filter) { f.Malformed = 1 << inthdr.ReasonLength }, []string{"net in malformed malformed=shim_length drop=malformed"}},
		{"malformed, another", func(f *capture.Filter) { f.Malformed = 1 << inthdr.ReasonNPT }, nil},
		{"match", func(f *capture.Filter) {
			f.Match = selector.Of(selector.Match{DestinationPort: []selector.PortRange{{First: 80, Last: 80}}})
		}, []string{"net in web new_flow", "host out web new_flow"}},
		{"another link", func(f *capture.Filter) { f.Links = []int{1} }, nil},
	} {
		t.Run(x.name, func(t *testing.T) { sameTexts(t, captured(t, x.change, frames...), x.want...) })
	}
}

// TestCaptureOfATap: what a tap sees is captured as it came.
func TestCaptureOfATap(t *testing.T) {
	b := newBed(t, nil)
	b.links[0].Host = nil
	c := b.capturing(1e6, nil)
	b.pass(withINT(t, plain(1), nil), plain(2))
	texts, _ := b.taken(c)
	sameTexts(t, texts, "net in all new_flow drop=tap", "net in drop=tap")
	b.balance()
}

// TestCaptureWithoutWatches, where packets have no flows, and of packets that pass as they are.
func TestCaptureWithoutWatches(t *testing.T) {
	b := explained(t, func(r *Rules) { r.Watches = nil })
	c := b.capturing(1e6, nil)
	f := withINT(t, plain(1), nil)
	host, _ := b.pass(f)
	sameFrames(t, host, plain(1))
	b.PassAll(true)
	b.step(tickNs)
	host, _ = b.pass(f)
	sameFrames(t, host, f)
	texts, packets := b.taken(c)
	sameTexts(t, texts, "net in", "host out", "net in", "host out")
	sameFrames(t, packets, f, plain(1), f, f)
	b.balance()
}

// TestCaptureIsBounded: in rate and room; what did not fit is counted, and packets pass.
func TestCaptureIsBounded(t *testing.T) {
	f := withINT(t, plain(1), nil)
	flood := func(b *bed, n int) {
		for range n {
			for range 32 {
				b.network.RX = append(b.network.RX, bytes.Clone(f))
			}
			b.Poll()
			b.host.TX = b.host.TX[:0]
			b.now += 1000
		}
	}
	b := newBed(t, nil)
	slow := b.capturing(1000, nil)
	flood(b, 100)
	b.now += 1e9
	flood(b, 2)
	texts, _ := b.taken(slow)
	rate, room := slow.Dropped()
	if len(texts) != 2*129 || rate != 102*32-129 || room != 0 {
		t.Errorf("%d copies taken at a rate of 1000/s, %d and %d dropped", len(texts), rate, room)
	}
	fast := b.capturing(1e9, nil)
	flood(b, 100)
	texts, _ = b.taken(fast)
	if rate, room = fast.Dropped(); rate != 0 || len(texts)+int(room) != 2*3200 || len(texts) < 1000 || room < 1000 {
		t.Errorf("%d copies fit the ring, %d did not, %d were dropped by the rate", len(texts), room, rate)
	}
	b.balance()
}

// TestCaptureEndsByItself, at its time, although nobody ends it, and with the worker.
func TestCaptureEndsByItself(t *testing.T) {
	b := newBed(t, nil)
	c := capture.New(wholePackets, b.now+5e6, 1e6, 1<<16)
	b.Captures.Capture(c)
	b.step(tickNs)
	b.pass(plain(1))
	b.step(5e6)
	b.pass(plain(2))
	b.Poll()
	if !c.Ended() {
		t.Error("it goes on after its time")
	}
	b.Reload(b.rules) // the worker looks at what was handed over
	b.step(tickNs)
	b.pass(plain(3))
	if texts, _ := b.taken(c); len(texts) != 2 {
		t.Errorf("captured %q", texts)
	}
	last := b.capturing(1e6, nil)
	b.Close()
	if !last.Ended() {
		t.Error("it goes on after the worker")
	}
	b.balance()
}

// TestCaptureOverReload finds its watch by name among the new rules.
func TestCaptureOverReload(t *testing.T) {
	b := explained(t, nil)
	c := b.capturing(1e6, func(f *capture.Filter) { f.Watches = []string{"all"} })
	f := withINT(t, plain(1), nil)
	b.pass(f)
	r := *b.rules
	r.Watches = []watch.Watch{{Name: "none", Policy: allEvents()}, r.Watches[0]}
	r.Watches[0].DestinationPort = []watch.PortRange{{First: 1, Last: 1}}
	b.Reload(&r)
	b.step(tickNs)
	b.pass(f)
	r2 := r
	r2.Watches = r.Watches[:1]
	b.Reload(&r2)
	b.step(tickNs)
	b.pass(f)
	texts, _ := b.taken(c)
	if len(texts) != 4 {
		t.Errorf("captured %q, want the first two packets at both stages", texts)
	}
	b.balance()
}

// TestCaptureChangesNothing: of random packets, damaged ones and tunnels among them, what leaves,
// is reported and counted is the same while a capture runs; and the capture has each packet as
// it came and as it left, in order.
func TestCaptureChangesNothing(t *testing.T) {
	var nested [][]byte
	for _, n := range nestings() {
		_, marked := n.Frames(t, func(s *intgen.Source, _ []intgen.Hop) { s.Bitmap = 0xf000 })
		nested = append(nested, marked)
	}
	for name, change := range map[string]func(*Rules){
		"watched": func(*Rules) {}, "not watched": func(r *Rules) { r.Watches = nil }, "malformed drops": func(r *Rules) { r.DropMalformed = true }, "tap": func(*Rules) {},
	} {
		t.Run(name, func(t *testing.T) {
			tap := name == "tap"
			b, quiet, r := newLinksBed(t, tap, change), newLinksBed(t, tap, change), rand.New(rand.NewPCG(4, 2))
			c := capture.New(wholePackets, math.MaxInt64, 1e12, 1<<22)
			for _, x := range []*linksBed{b, quiet} {
				x.Captures.Capture(nil)
				x.step(tickNs)
			}
			b.Captures.Capture(c)
			b.stages.turns.Tick(b.now)
			for range 100 {
				x := newRound(t, r, tap, nested)
				b.live(&x)
				quiet.live(&x)
				for _, w := range []*linksBed{b, quiet} {
					for l := range w.counters.Links {
						w.counters.Links[l].Checksum.Checksums = [checksum.NumStates][checksum.NumStates]uint64{} // samples are of other packets
					}
				}
				b.sameAs(t, quiet)
				for _, q := range b.ports {
					q.RX = nil
				}
				b.Poll()
				b.stages.turns.Tick(b.now) // what was captured is complete
				quiet.Poll()
				b.hasCaptured(t, c, &x)
			}
			b.Captures.Capture(nil)
			for _, b := range []*linksBed{b, quiet} {
				b.Close()
				b.handedOver()
				b.balance()
			}
		})
	}
}

// hasCaptured compares the records of c with the packets that arrived and left in the last round.
func (b *linksBed) hasCaptured(t *testing.T, c *capture.Capture, x *round) {
	t.Helper()
	var in, out [4][][]byte // by port
	var r capture.Record
	for ; c.Next(&r); c.Done() {
		port := 2 * r.Link
		if r.Host {
			port++
		}
		switch {
		case !r.Out:
			in[port] = append(in[port], bytes.Clone(r.Data))
		case !r.Dropped:
			out[port] = append(out[port], bytes.Clone(r.Data))
		}
	}
	for port, q := range b.ports {
		came := x.frames[port][:min(len(x.frames[port]), mbuf.MaxBurst)]
		if port == 1 && b.links[0].Host == nil {
			came = nil
		}
		if !slices.EqualFunc(in[port], came, bytes.Equal) {
			t.Fatalf("port %d: as they came: %s", port, firstDifference(in[port], came))
		}
		if !slices.EqualFunc(out[port], q.TX, bytes.Equal) && len(x.frames[port^1]) > 0 {
			t.Fatalf("port %d: as they left: %s", port, firstDifference(out[port], q.TX))
		}
	}
}
