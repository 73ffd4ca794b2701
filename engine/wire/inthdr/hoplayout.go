// LayoutOf: at which offset of a hop each value stands, by bits of the Instruction Bitmap;
// PathID: FNV-1a over nodes and interfaces, the id of a path that people see.

package inthdr

// Instruction Bitmap bits of INT 2.1 section "INT-MD Metadata Header Format",
// bit 0 being the most significant.
const (
	BitNodeID             = 1 << 15
	BitLevel1Interfaces   = 1 << 14
	BitHopLatency         = 1 << 13
	BitQueue              = 1 << 12
	BitIngressTimestamp   = 1 << 11
	BitEgressTimestamp    = 1 << 10
	BitLevel2Interfaces   = 1 << 9
	BitTxUtilization      = 1 << 8
	BitBuffer             = 1 << 7
	BitChecksumComplement = 1 << 0
)

// Layout says where each value stands in one hop's metadata: byte offsets from
// the start of the hop, -1 where the Instruction Bitmap does not ask for it.
// HopLen is what the baseline bits ask for in bytes, checksum complement
// included, domain specific metadata not.
//
// In the June 2016 format bit 1 is the ingress port alone, bit 5 (EgressTimestamp)
// the egress port, bit 6 (Level2Interfaces) the queue's congestion status, and the
// top bit of every value marks the bottom of the stack.
type Layout struct {
	Bitmap           uint16
	Format           Format
	HasRest          bool // hops have something of a Rest
	BasicHops        bool // hops begin with node ids, have no level-2 interfaces, and no latency by their timestamps
	HopLen           uint8
	NodeID           int8 // 4 bytes
	Interfaces       int8 // ingress 16 bits, egress 16 bits
	HopLatency       int8 // 4 bytes
	Queue            int8 // id 8 bits, occupancy 24 bits
	IngressTimestamp int8 // 8 bytes, 4 before 2.0
	EgressTimestamp  int8 // 8 bytes, 4 before 2.0
	Level2Interfaces int8 // ingress 32 bits, egress 32 bits; 16 bits each in FormatGEANT
	TxUtilization    int8 // 4 bytes
	Buffer           int8 // id 8 bits, occupancy 24 bits
}

// LayoutOf returns the layout that bitmap asks for.
func LayoutOf(bitmap uint16, format Format) Layout {
	l := Layout{Bitmap: bitmap, Format: format}
	off := 0
	place := func(bit uint16, size int) int8 {
		if bitmap&bit == 0 {
			return -1
		}
		at := off
		off += size
		return int8(at)
	}
	wide, both := 8, 8 // timestamps; level-2 interfaces
	if format == Format1 || format == Format2016 {
		wide = 4
	}
	if format == Format2016 || format == FormatGEANT {
		both = 4
	}
	l.NodeID = place(BitNodeID, 4)
	l.Interfaces = place(BitLevel1Interfaces, 4)
	l.HopLatency = place(BitHopLatency, 4)
	l.Queue = place(BitQueue, 4)
	l.IngressTimestamp = place(BitIngressTimestamp, wide)
	l.EgressTimestamp = place(BitEgressTimestamp, wide)
	l.Level2Interfaces = place(BitLevel2Interfaces, both)
	l.TxUtilization = place(BitTxUtilization, 4)
	l.Buffer = place(BitBuffer, 4)
	for bit := uint16(BitBuffer >> 1); bit != 0; bit >>= 1 { // reserved bits 9-14 and the complement
		place(bit, 4)
	}
	l.HopLen = uint8(off)
	l.HasRest = format == Format2 && l.Buffer >= 0 || format == Format2016 && l.Level2Interfaces >= 0
	l.BasicHops = format != Format2016 && l.NodeID == 0 && l.Level2Interfaces < 0 && !l.HasStampedLatency()
	return l
}

// HasStampedLatency reports whether the latency of hops is the difference of their timestamps: the bitmap asks for
// both, and not for the latency.
func (l *Layout) HasStampedLatency() bool {
	return l.HopLatency < 0 && l.IngressTimestamp >= 0 && l.EgressTimestamp >= 0 && l.Format != Format2016
}

// OccupancyAt is where a hop says how full its queue is, in a word like that of Queue: without one of the queue, that of
// the buffer. -1: nowhere.
func (l *Layout) OccupancyAt() int8 {
	if l.Queue < 0 && l.HasRest && l.Format == Format2 {
		return l.Buffer
	}
	return l.Queue
}

// PathID tells paths through the network apart. It has no key: it is the same on every
// worker, after every start, and in whatever reads the same hops.
type PathID uint64

// Parameters of FNV-1a with 64 bits, here over words.
const (
	StartOfPath PathID = 0xcbf29ce484222325
	fnvPrime    uint64 = 0x100000001b3
)

// Via is id with one more node and its interfaces; the source's comes first. level2 is
// both level 2 interfaces, 0 where there are none.
func (id PathID) Via(node uint32, ingress, egress uint16, level2 uint64) PathID {
	h := (uint64(id) ^ (uint64(node)<<32 | uint64(ingress)<<16 | uint64(egress))) * fnvPrime
	return PathID((h ^ h>>32 ^ level2) * fnvPrime)
}
