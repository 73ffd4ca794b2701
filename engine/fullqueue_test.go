package engine

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/wire/intgen"
	"intsink/flows"
	"intsink/internal/rounds"
)

// crossing makes packets of flows. They cross one or two queues of several, which are calm, in between or full for
// some bursts at a time; now and then a number is left out, or comes twice, a packet takes another queue of an interface, or a flow moves.
type crossing struct {
	t *testing.T
	*rand.Rand
	next [12]uint32
	full [4]uint32 // occupancy of each queue
	way  [12]int   // of each flow
	left int       // packets until other queues are full

	seldom  int   // of so many packets one takes another queue
	longest int64 // nanoseconds between two bursts

	numbered bool // most flows number their packets; else they are of two watches
}

// change has other queues be full: any of them, or one alone for so long that nothing is left of the one before.
func (c *crossing) change() {
	if c.left, c.seldom, c.longest = 100+c.IntN(800), 40, 2e6; !c.numbered {
		c.left, c.seldom, c.longest = 1500+c.IntN(3000), 4000, 8e6
		c.full = [len(c.full)]uint32{10, 10, 10, 10}
		c.full[c.IntN(len(c.full))] = []uint32{70, 150, 5000}[c.IntN(3)]
		return
	}
	for i := range c.full {
		c.full[i] = []uint32{10, 70, 150, 5000}[c.IntN(4)]
	}
}

func (c *crossing) frame() []byte {
	if c.left--; c.left < 0 {
		c.change()
	}
	flow := c.IntN(len(c.next))
	if c.IntN(300) == 0 {
		c.way[flow] = c.IntN(3)
	}
	f := intgen.Flow{Src: address(10, 0, 1, byte(flow)), Dst: address(10, 1, 0, 1), Proto: intgen.UDP, SrcPort: 1024, DstPort: 7999 + uint16(flow%6)}
	source := intgen.Source{UDPPort: 5000, Bitmap: 0xf000, MaxHops: 20}
	if !c.numbered {
		f.DstPort = 7999 + uint16(flow/10)
	} else if flow%3 != 0 {
		source.DomainID, source.DSInstruction = 0x5453, 0x8000
		source.SourceOnly = binary.BigEndian.AppendUint32(nil, c.next[flow])
		switch c.next[flow]++; c.IntN(60) {
		case 0:
			c.next[flow]++
		case 1:
			c.next[flow]--
		}
	}
	hops := make([]intgen.Hop, 3)
	for i := range hops {
		queue := (flow + i + c.way[flow]) % (len(c.full) + 1)
		hops[i] = intgen.Hop{NodeID: uint32(queue), Ingress: 1, Egress: 2, LatencyNs: 10_000 + c.Uint32N(100), QueueID: uint8(queue)}
		if c.IntN(c.seldom) == 0 { // another queue of the interface, as full as the next node's
			queue = (queue + 1) % (len(c.full) + 1)
			hops[i].QueueID = uint8(queue)
		}
		if queue < len(c.full) {
			if hops[i].QueueOccupancy = c.full[queue] + c.Uint32N(20); c.IntN(c.seldom) == 0 {
				hops[i].QueueOccupancy = c.Uint32N(200)
			}
			hops[i].LatencyNs += 20 * c.full[queue]
		}
	}
	frame, err := source.Insert(f.Frame(c.IntN(200), c.Uint32()), hops)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.IntN(10) == 0 { // a queue has marked it; its checksum is wrong then
		frame[15] |= 3
	}
	return frame
}

// wholeFlow is a flow with what it has elsewhere, but for its shares of records: these differ by what records have of it, and the bound of
// both has tests of its own. What package fast keeps of the last packet is of C alone.
type wholeFlow struct {
	flows.Flow
	flows.Cold
	flows.Loss
}

func whole(f *flows.Flow) (all wholeFlow) {
	if f.HasCold() {
		all.Cold = *f.Cold()
		all.Shares, all.Again = [flows.MaxShares]flows.Share{}, flows.Again{}
	}
	if f.HasLoss() {
		l, _ := f.Loss()
		all.Loss = *l
	}
	size := unsafe.Offsetof(f.PathHash) // pointers are behind it
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&all.Flow)), size), unsafe.Slice((*byte)(unsafe.Pointer(f)), size))
	return all
}

// sameEpisodes compares the episodes of two sinks, of those that ended from number ended on: all that is known of them for certain.
func sameEpisodes(t *testing.T, b, long *linksBed, ended *uint64) {
	t.Helper()
	from := *ended
	want, _ := episodesOf(long, from)
	got, next := episodesOf(b, from)
	if *ended = next; !slices.Equal(got, want) {
		t.Fatalf("episodes (-the long way)\n%s", cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })))
	}
}

func episodesOf(b *linksBed, from uint64) (all []episode.Record, next uint64) {
	all, next = b.Episodes().Ended(from)
	all = append(all, b.Episodes().Open()...)
	for i, r := range all {
		all[i] = episode.Record{
			ID: r.ID, Queue: r.Queue, Begin: r.Begin, End: r.End, Ended: r.Ended, Last: r.Last, UsualLatency: r.UsualLatency, UsualOccupancy: r.UsualOccupancy,
			Packets: r.Packets, Bytes: r.Bytes, OtherPackets: r.OtherPackets, OtherBytes: r.OtherBytes, Capable: r.Capable, Marked: r.Marked,
			PeakLatency: r.PeakLatency, PeakOccupancy: r.PeakOccupancy, PeakAt: r.PeakAt,
			Culprits: episode.Top{Total: r.Culprits.Total}, Victims: episode.Top{Total: r.Victims.Total}, Bursts: r.Bursts, Width: r.Width, Window: r.Window,
		}
	}
	return all, next
}

// TestFullQueuesTheLongWay: of packets that cross full queues, most of them numbered or none, a worker with templates makes the reports, counts,
// flows and episodes that one makes that parses each packet.
func TestFullQueuesTheLongWay(t *testing.T) {
	number := func(th *event.Thresholds) { th.CongestionRaise, th.CongestionClear = 100, 50 }
	usual := func(th *event.Thresholds) {
		th.CongestionRaise, th.CongestionFactor, th.CongestionLatency = 0, 8, 100_000
	}
	for name, change := range map[string]func(*event.Thresholds){"numbers": number, "what is usual": usual} {
		for way := range 4 {
			portable, numbered := way&1 != 0, way&2 != 0
			t.Run(fmt.Sprintf("%s, portable %v, numbered %v", name, portable, numbered), func(t *testing.T) {
				rules := func(r *Rules) {
					r.Leak = tonetwork.StripLeaks
					for i := range r.Watches {
						p := &r.Watches[i].Policy
						p.Sample, p.Events = 0, event.NewFlow.Set()|event.PathChange.Set()|event.Congestion.Set()|event.Loss.Set()
						p.Thresholds.LossWindow, p.Thresholds.LossTimeout, p.Thresholds.LossInterval = 1024, 5e6, 1e6
						p.Thresholds.CongestionTimeout = 1e8
						change(&p.Thresholds)
					}
				}
				b, long := newLinksBed(t, false, rules), newLinksBed(t, false, rules)
				if portable {
					b.burst.Fast.Portable()
				}
				var ended uint64
				c := &crossing{t: t, numbered: numbered, Rand: rand.New(rand.NewPCG(4, uint64(len(name))))}
				c.change()
				for n := range rounds.Of(600, 30) {
					x := round{room: [4]int{unlimited, unlimited, unlimited, unlimited}, step: c.Int64N(c.longest)}
					for range 1 + c.IntN(64) {
						x.frames[0] = append(x.frames[0], c.frame())
					}
					b.live(&x)
					long.forget()
					long.live(&x)
					b.sameAs(t, long)
					sameEpisodes(t, b, long, &ended)
					got, want := b.flows(), long.flows()
					for i := range got {
						if x, y := whole(got[i]), whole(want[i]); !reflect.DeepEqual(x, y) {
							t.Fatalf("round %d: flow %d is\n%+v, the long way\n%+v", n, i, x, y)
						}
					}
				}
				if fired := b.detector.Counters.Fired; !rounds.Race && (name == "numbers" && fired[event.Congestion] < 10 || numbered && fired[event.Loss] < 50) {
					t.Errorf("%v: the test says little", fired)
				}
				for _, b := range []*linksBed{b, long} {
					b.Close()
					b.handedOver()
				}
				sameEpisodes(t, b, long, &ended)
			})
		}
	}
}
