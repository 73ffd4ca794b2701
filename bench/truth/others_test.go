package truth

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/engine"
	"intsink/engine/event"
	"intsink/engine/wire/intgen"
)

// incast is bursts of packets through two queues that are calm, full and calm again. In each a known flow has the first packet, and
// while the queues are full the others are each of a new flow: many more than the flow table has room for in that time.
func incast(t *testing.T, bitmap uint16, perBurst int) (bursts [][]Captured) {
	const known, calm, full = 6, 60, 300
	at, new := int64(Epoch), 0
	packet := func(src netip.Addr, size int, occupancy uint32) Captured {
		f := intgen.Flow{
			SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000,
			Src: src, Dst: netip.AddrFrom4([4]byte{172, 16, 0, 1}),
		}
		source := intgen.Source{UDPPort: INTPort, Bitmap: bitmap, MaxHops: 5}
		hop := func(node uint32) intgen.Hop {
			return intgen.Hop{NodeID: node, Ingress: 3, Egress: 15, LatencyNs: 50 * occupancy, QueueID: 2, QueueOccupancy: occupancy}
		}
		frame, err := source.Insert(f.Frame(size, uint32(at)), []intgen.Hop{hop(100), {NodeID: 900, Ingress: 3, Egress: 15, LatencyNs: 3000}, hop(101)})
		if err != nil {
			t.Fatal(err)
		}
		return Captured{at, frame}
	}
	for n := range calm + full + 2*calm {
		at += 10_000
		isFull, occupancy := n >= calm && n < calm+full, uint32(90)
		if isFull {
			occupancy = 9000 + uint32(n)
		}
		burst := []Captured{packet(netip.AddrFrom4([4]byte{10, 0, 0, byte(n%known + 1)}), 100+200*(n%known), occupancy)}
		for n > calm && isFull && len(burst) < perBurst {
			new++
			burst = append(burst, packet(netip.AddrFrom4([4]byte{11, byte(new >> 16), byte(new >> 8), byte(new)}), 40, occupancy-1))
		}
		bursts = append(bursts, burst)
	}
	return bursts
}

// TestFlowsWithoutARecordAreCounted: where the flow table is full, an episode has as many packets and bytes as the slow count, those of
// flows without a record among them: as many as the table refused. So the shares of flows and theirs are of all there is.
func TestFlowsWithoutARecordAreCounted(t *testing.T) {
	th := event.Thresholds{CongestionRaise: 8000, CongestionClear: 1000, CongestionQuota: 32, CongestionTimeout: s}
	for _, c := range []struct {
		name     string
		bitmap   uint16
		perBurst int
		change   func(w *engine.Worker, r *engine.Rules)
	}{
		{"in C", intgen.DefaultBitmap, 40, nil},
		{"nodes and queues alone", bitNode | bitQueue, 40, nil},
		{"every packet is parsed", intgen.DefaultBitmap, 40, func(w *engine.Worker, _ *engine.Rules) { w.ParseAll() }},
		{"nodes with units of their own", intgen.DefaultBitmap, 40, func(w *engine.Worker, r *engine.Rules) {
			r.NodeModels = []event.NodeModel{{Nodes: []event.NodeRange{{First: 7, Last: 8}}, LatencyUnit: 2}}
			w.Reload(r)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, bursts := congestionOnly(th), incast(t, c.bitmap, c.perBurst)
			b := newBedOf(t, rules, nil, 0, 1<<8)
			if c.change != nil {
				c.change(b.worker, rules)
			}
			for _, burst := range bursts {
				b.now = burst[0].Time
				b.worker.Tick(b.now)
				for k := range burst {
					b.network.next = append(b.network.next, burst[k].Frame)
				}
				b.worker.Poll()
				b.take()
			}
			b.worker.Publish()
			refused := b.worker.Snapshot().Refused
			want, of := CountSlowly(slices.Concat(bursts...), Rise{Raise: 8000, Clear: 1000, Timeout: time.Second}), b.worker.Episodes()
			got, _ := of.Ended(0)
			if len(got) != 2 || len(want) != 2 || refused < 5000 {
				t.Fatalf("%d episodes, want %d; %d packets refused", len(got), len(want), refused)
			}
			for i := range got {
				e := &got[i]
				if checkEpisode(t, e, want); e.OtherPackets != refused || e.OtherBytes == 0 {
					t.Errorf("%d packets and %d bytes of flows without a record, want %d packets", e.OtherPackets, e.OtherBytes, refused)
				}
				sum, new, size := e.OtherBytes, e.Packets-e.OtherPackets, e.OtherBytes/e.OtherPackets
				for flow, bytes := range want[0].OfFlow {
					if strings.HasPrefix(flow, "udp:10.") { // a known one
						sum, new = sum+bytes, new-uint64(len(want[0].Waited[flow]))
					}
				}
				if sum+new*size != e.Bytes {
					t.Errorf("known flows, %d new ones and those without a record have %d bytes, want %d", new, sum+new*size, e.Bytes)
				}
			}
		})
	}
}
