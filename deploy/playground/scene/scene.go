// Network: which packets the network sends, and what its nodes write into them, now.

// Package scene is a leaf-spine network that writes INT, or IFA, or is of routers of Linux, which write IOAM: three leaves send sixty flows over four
// spines to two leaves, with a host behind each of five interfaces. Something can be made to go
// wrong in it. `make playground` and the test of the page show a sink the same network.
//
//	scene.go    Network, its flows, the packets of a step
//	faults.go   what can be made to go wrong
//	linux.go    the packets that routers of Linux are to forward
//	play.go     Play: the network's packets, in real time
package scene

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync/atomic"
	"time"

	"intsink/engine/wire/intgen"
)

// Flows is how many flows there are; Steps are the parts of a round: in each, six of them send.
const (
	Flows = 60
	Steps = 10
)

// Pause is how long after a step the next one is: 1,650 packets a second. In the first Hurry of Play there are four times as many, so
// that a sink has learned soon what is usual.
const (
	Pause = 3636 * time.Microsecond
	Hurry = time.Minute
)

// SequenceDomain is the domain of the numbers that the source gives to the packets of a flow.
const SequenceDomain = 7

// Network is the network. A step and a command may come from two goroutines.
type Network struct {
	Sinks int  // behind how many sinks the hosts are; 0 is 1
	Sink  int  // the one that the packet which is being sent leaves the network by
	IFA   bool // nodes write IFA into the packets, not INT

	routers func(word string) error // nil: the network is not of routers
	source  intgen.Source
	flows   [Flows]flow
	random  *rand.Rand
	faults  atomic.Uint32
}

// flow is one of the flows, with its way while nothing is wrong.
type flow struct {
	intgen.Flow
	from, spine, to uint32 // the nodes
	in, out         uint16 // interfaces of the sending and the receiving host
	size            int
	sent            uint32
}

// byIFA is what writes IFA, which has no numbers of packets.
var byIFA = intgen.Source{Marking: intgen.ByIFA}

// New makes a network in which nothing is wrong.
func New() *Network {
	n := &Network{random: rand.New(rand.NewPCG(1, 2))}
	n.source = intgen.Source{UDPPort: 5000, Bitmap: 0xfd00, MaxHops: 8, DomainID: SequenceDomain, DSInstruction: 0x8000}
	for i := range n.flows {
		f := &n.flows[i]
		f.from, f.spine, f.to = uint32(101+i%3), uint32(201+i/2%4), uint32(301+i%2)
		f.in, f.out = uint16(1+i/3), uint16(11+i/8%5)
		f.size = 100 + 40*(i%12)
		f.Flow = intgen.Flow{
			SrcMAC: [6]byte{2, 0, 0, 0, 0, byte(i)}, DstMAC: [6]byte{2, 0, 0, 0, 1, byte(f.out)}, Proto: intgen.UDP, SrcPort: uint16(40000 + i), DstPort: 8000,
			Src: netip.AddrFrom4([4]byte{10, byte(f.from - 100), 0, byte(f.in)}), Dst: netip.AddrFrom4([4]byte{10, 3, byte(f.to - 300), byte(f.out)}),
		}
	}
	return n
}

// Step calls send with the packets of one step, as they leave the last node at now.
func (n *Network) Step(step int, now time.Time, send func([]byte)) error {
	faults := n.faults.Load()
	for i := step % Steps; i < Flows; i += Steps {
		f := &n.flows[i]
		packets, size := 1, f.size
		if faults&fill != 0 && i == culprit {
			packets, size = burst, 1400
		}
		for range packets {
			if err := n.packet(f, size, faults, now, send); err != nil {
				return fmt.Errorf("flow %d: %w", i, err)
			}
		}
	}
	return nil
}

// packet sends a packet of f, unless the network loses it: its number is used up then.
func (n *Network) packet(f *flow, size int, faults uint32, now time.Time, send func([]byte)) error {
	f.sent++
	if n.routers != nil {
		frame, err := f.toLinux(size)
		if err == nil {
			send(frame)
		}
		return err
	}
	spine := f.spine
	if faults&move != 0 && spine == dead {
		spine = standIn
	}
	if faults&lose != 0 && spine == lossy && f.to == lossyTo && n.random.IntN(5) == 0 {
		return nil
	}
	n.Sink = int(f.out) % max(n.Sinks, 1)
	source := &n.source
	if source.SourceOnly = binary.BigEndian.AppendUint32(nil, f.sent); n.IFA {
		source = &byIFA
	}
	frame, err := source.Insert(f.Frame(size, f.sent), n.hops(f, spine, faults, now))
	if err == nil {
		send(frame)
	}
	return err
}

// Interfaces of the switches: those of hosts have lower numbers, those between leaves and spines these.
const (
	uplink = 50 // + the number of the spine, at a leaf
	toLeaf = 10 // + the number of the receiving leaf, at a spine
)

// hops is what the nodes of f's way write, the last one first, as a packet has it.
func (n *Network) hops(f *flow, spine uint32, faults uint32, now time.Time) []intgen.Hop {
	way := []intgen.Hop{
		{NodeID: f.from, Ingress: f.in, Egress: uint16(uplink + spine - 200), LatencyNs: n.about(1300), QueueOccupancy: n.about(20), TxUtilization: n.about(20)},
		{NodeID: spine, Ingress: uint16(f.from - 100), Egress: uint16(toLeaf + f.to - 300), LatencyNs: n.about(1700), QueueOccupancy: n.about(30), TxUtilization: n.about(30)},
		{NodeID: f.to, Ingress: uint16(uplink + spine - 200), Egress: f.out, LatencyNs: n.about(1500), QueueID: 2, QueueOccupancy: n.about(40), TxUtilization: n.about(25)},
	}
	if faults&slow != 0 && spine == slowSpine {
		way[1].LatencyNs += n.about(300_000)
	}
	if q := &n.flows[culprit]; faults&fill != 0 {
		full := &way[2]
		shares := f.to == q.to && f.out == q.out
		if n.Sinks > 1 { // the queue in front of the last leaf: those who wait leave by other sinks than who fills it
			full, shares = &way[1], f.to == q.to && spine == q.spine
		}
		if shares {
			full.LatencyNs += n.about(1_700_000)
			full.QueueOccupancy, full.TxUtilization = n.about(9000), 98
		}
	}
	hops := make([]intgen.Hop, len(way))
	at := uint64(now.UnixNano())
	for i := len(way) - 1; i >= 0; i-- { // backwards in time, from the last node
		h := &way[i]
		h.EgressTimestamp = at
		h.IngressTimestamp = at - uint64(h.LatencyNs)
		at = h.IngressTimestamp - uint64(n.about(700))
		hops[len(way)-1-i] = *h
	}
	return hops
}

// about is a value that is up to 30 % off.
func (n *Network) about(value uint32) uint32 {
	return value*7/10 + n.random.Uint32N(value*6/10+1)
}
