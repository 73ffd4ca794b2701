// The rows: reports of a network, each of a flow on its way over nodes, with values that differ as those of a network do.

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/exporters/record"
)

// Sizes of the network.
const (
	nodes, interfaces, queues = 100, 8, 4
	sinks, perPacket          = 60, 8
)

const everyHop = record.HopNode | record.HopIngress | record.HopEgress | record.HopLatency | record.HopQueue | record.HopOccupancy |
	record.HopIngressTime | record.HopEgressTime

// network makes reports, in the order of their times.
type network struct {
	rand  *rand.Rand
	flows uint64
	gap   int64 // nanoseconds from one report to the next
	time  int64 // of the next report, Unix nanoseconds
	n     uint64
	start int64
	r     record.Record
}

func newNetwork(flows uint64, perSecond, begin int64) *network {
	return &network{rand: rand.New(rand.NewPCG(1, 2)), flows: flows, gap: 1e9 / perSecond, time: begin, start: begin}
}

// block returns so many reports as one block of format Native.
func (n *network) block(rows int) []byte {
	c := record.NewColumns()
	for range rows {
		n.next()
		c.Append(&n.r)
	}
	c.Seal()
	return record.AppendNative(nil, record.Rows{Of: c, To: c.Len()})
}

// write makes a folder with so many blocks, and returns their files.
func (n *network) write(dir string, blocks, rows int) (files []string, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	for i := range blocks {
		path := filepath.Join(dir, fmt.Sprintf("%04d.native", i))
		if err := os.WriteFile(path, n.block(rows), 0o600); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	return files, nil
}

// mixed returns one of many numbers that belong to a flow: its ports, its nodes.
func mixed(flow, what uint64) uint64 {
	h := (flow+1)*0x9e3779b97f4a7c15 ^ what*0xbf58476d1ce4e5b9
	h ^= h >> 31
	return h * 0x94d049bb133111eb >> 16
}

// next makes n.r the next report. Few flows have most of them.
func (n *network) next() {
	r := &n.r
	r.Reset(record.Report)
	flow := uint64(math.Pow(float64(n.flows), n.rand.Float64())) % n.flows
	sink := uint32(mixed(flow, 1) % sinks)
	r.Known = record.KnownNode | record.KnownEvents | record.KnownExplanation | record.KnownAddresses | record.KnownPorts | record.KnownHopCount | record.KnownPath |
		record.KnownLatency | record.KnownMaxHop | record.KnownRepType | record.KnownInType | record.KnownInstance
	r.Time, r.Received = n.time, n.time+200_000+n.rand.Int64N(1_000_000)
	r.Exporter, r.Version = netip.AddrFrom4([4]byte{192, 0, 2, byte(sink)}), record.Version20
	r.NodeID, r.HwID, r.Start, r.Instance = 1000+sink, uint8(flow%4), n.start, 1<<60+uint64(sink)
	r.Sequence, r.Index = n.n/perPacket, uint16(n.n%perPacket)
	r.RepType, r.InType, r.Tracked = report.INT, report.IPv4, true
	r.Events = 1 << (mixed(n.n, 7) % 3)
	r.FlowPackets, r.FlowBytes = n.n/100+flow, (n.n/100+flow)*900
	r.Source = netip.AddrFrom4([4]byte{10, byte(flow >> 16), byte(flow >> 8), byte(flow)})
	r.Destination = netip.AddrFrom4([4]byte{10, 200, byte(mixed(flow, 2)), byte(mixed(flow, 3))})
	r.SourcePort, r.DestinationPort, r.Protocol = uint16(1024+mixed(flow, 4)%60000), []uint16{80, 443, 8080, 5432}[flow%4], 6
	r.Length = 60 + uint32(n.rand.IntN(1440))
	n.way(flow)
	n.n++
	n.time += n.gap
}

// way is that of a flow: three or five nodes, the same ones for many flows.
func (n *network) way(flow uint64) {
	r := &n.r
	hops := 3 + 2*int(flow%5/3)
	id, now, of := inthdr.StartOfPath, r.Time-int64(hops)*60_000, mixed(flow, 5)%500
	for i := range hops {
		h := mixed(of, uint64(10+i))
		node, latency := uint32(1+h%nodes), 600+uint32(math.Exp(n.rand.NormFloat64()*0.8+7+float64(h>>20%3)))
		occupancy := uint32(0)
		if latency > 2500 {
			occupancy = (latency - 2500) / 80
		}
		in := now + int64(n.rand.IntN(3000)) + 1000
		now = in + int64(latency)
		r.Hops = append(r.Hops, record.Hop{Known: everyHop, NodeID: node, Ingress: uint32(1 + h>>8%interfaces), Egress: uint32(1 + h>>12%interfaces),
			LatencyNs: latency, Queue: uint8(flow % queues), Occupancy: occupancy, IngressTime: uint64(in), EgressTime: uint64(now)})
		id = id.Via(node, uint16(r.Hops[i].Ingress), uint16(r.Hops[i].Egress), 0)
		r.LatencyNs += uint64(latency)
		if i == 0 || latency > r.Hops[i-1].LatencyNs {
			r.MaxHop = node
		}
		if i > 0 {
			last := &r.Hops[i-1]
			r.Links = append(r.Links, record.Link{From: last.NodeID, To: node, LatencyNs: uint64(in) - last.EgressTime})
		}
	}
	r.HopCount, r.Path = uint16(hops), uint64(id)
}
