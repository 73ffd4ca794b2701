package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"

	"intsink/bench/intgen"
)

// genStart is the time of the first packet: any constant, so that the file is
// the same each time.
const genStart = 1_700_000_000_000_000_000

// generator makes the packets of a capture.
type generator struct {
	f       *genFlags
	source  *intgen.Source
	random  *rand.Rand
	payload int
	steps   []uint32 // per flow: latency steps so far
	paths   []uint16 // per flow: path changes so far
	hops    []intgen.Hop
}

func genCapture(stdout io.Writer, f *genFlags) error {
	source, err := f.source()
	if err != nil {
		return err
	}
	g := &generator{
		f: f, source: source, random: rand.New(rand.NewPCG(f.seed, 0)),
		steps: make([]uint32, f.flows), paths: make([]uint16, f.flows), hops: make([]intgen.Hop, f.hops),
	}
	if err := g.fitPayload(); err != nil {
		return err
	}
	out, err := createCapture(f.out)
	if err != nil {
		return err
	}
	originals := out
	if f.original != "" {
		if originals, err = createCapture(f.original); err != nil {
			return err
		}
	}
	marked, err := g.write(out, originals, f.original != "")
	if err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	if f.original != "" {
		if err := originals.Close(); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "%s: %d packets, %d with INT, %d flows\n", f.out, f.count, marked, f.flows)
	return nil
}

// fitPayload finds the payload that makes a frame with INT as long as asked.
func (g *generator) fitPayload() error {
	flow := g.flow(0)
	empty, err := g.source.Insert(flow.Frame(0, 0), g.hops)
	if err != nil {
		return err
	}
	if !g.f.sizeGiven {
		g.f.size = max(g.f.size, len(empty))
	}
	g.payload = g.f.size - len(empty)
	if g.payload < 0 {
		return fmt.Errorf("--size %d: headers and INT of %d hops alone are %d bytes", g.f.size, g.f.hops, len(empty))
	}
	return nil
}

func (g *generator) write(out, originals *outFile, both bool) (marked uint64, err error) {
	for i := range g.f.count {
		n := int(i % uint64(g.f.flows))
		flow := g.flow(n)
		frame := flow.Frame(g.payload, uint32(i))
		at := genStart + int64(float64(i)*1e9/g.f.pps)
		if both {
			originals.Write(frame, at)
		}
		if g.random.Float64() >= g.f.plain {
			g.fillHops(i, n, at)
			if frame, err = g.source.Insert(frame, g.hops); err != nil {
				return marked, err
			}
			marked++
		}
		out.Write(frame, at)
	}
	if err := out.Err(); err != nil {
		return marked, err
	}
	return marked, originals.Err()
}

// flow is the n-th flow: addresses and ports count.
func (g *generator) flow(n int) *intgen.Flow {
	f := &intgen.Flow{
		SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, VLAN: g.f.vlan,
		Proto: intgen.UDP, SrcPort: uint16(1024 + n%60000), DstPort: 8000,
	}
	if g.f.proto == "tcp" {
		f.Proto = intgen.TCP
	}
	if g.f.ipv6 {
		src := [16]byte{0: 0x20, 1: 0x01, 2: 0x0d, 3: 0xb8}
		binary.BigEndian.PutUint32(src[12:], uint32(n+1))
		dst := src
		dst[7] = 1
		f.Src, f.Dst = netip.AddrFrom16(src), netip.AddrFrom16(dst)
		return f
	}
	f.Src = netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
	f.Dst = netip.AddrFrom4([4]byte{10, 128 | byte(n>>16), byte(n >> 8), byte(n)})
	return f
}

// fillHops writes the metadata of packet i of flow n: latencies that jitter by
// less than 2 us, and the events that the flags ask for.
func (g *generator) fillHops(i uint64, n int, at int64) {
	if e := g.f.pathEvery; e > 0 && i%e == e-1 {
		g.paths[n]++
	}
	if e := g.f.stepEvery; e > 0 && i%e == e-1 {
		g.steps[n]++
	}
	for h := range g.hops {
		hop := len(g.hops) - h // the newest, which is the last on the way, is first
		latency := uint32(10_000 + g.random.IntN(2000))
		egress := uint16(2)
		if hop == 1 {
			latency += 100_000 * g.steps[n]
			egress += g.paths[n]
		}
		g.hops[h] = intgen.Hop{
			NodeID: uint32(100 + hop), Ingress: 1, Egress: egress, LatencyNs: latency,
			QueueID: 1, QueueOccupancy: uint32(g.random.IntN(100)), TxUtilization: 20,
			IngressTimestamp: uint64(at), EgressTimestamp: uint64(at) + uint64(latency),
		}
	}
}
