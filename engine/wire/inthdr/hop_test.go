package inthdr

import (
	"encoding/binary"
	"testing"
)

// TestReadHalves: with every combination of unknown halves in the words that have two, each value is known or not by its
// own bits alone.
func TestReadHalves(t *testing.T) {
	const bitmap = BitNodeID | BitLevel1Interfaces | BitHopLatency | BitQueue | BitLevel2Interfaces | BitTxUtilization
	for _, format := range []Format{Format2, Format1, FormatGEANT} {
		l := LayoutOf(bitmap, format)
		for which := range 1 << 6 {
			value := func(bit int, v, ones uint32) (wire, want uint32) {
				if which>>bit&1 != 0 {
					return ones, Unknown
				}
				return v, v
			}
			want := Hop{NodeID: 7, Latency: 9, TxUtilization: 11, IngressTime: UnknownTime, EgressTime: UnknownTime}
			b := make([]byte, l.HopLen)
			be := binary.BigEndian
			half := func(at int8, bit int, v uint32) (want uint32) {
				v, want = value(bit, v, 0xffff)
				be.PutUint16(b[at:], uint16(v))
				return want
			}
			be.PutUint32(b, 7)
			be.PutUint32(b[l.HopLatency:], 9)
			be.PutUint32(b[l.TxUtilization:], 11)
			want.Ingress, want.Egress = half(l.Interfaces, 0, 1), half(l.Interfaces+2, 1, 2)
			queue, occupancy := uint32(0), uint32(0)
			queue, want.Queue = value(2, 3, 0xff)
			occupancy, want.Occupancy = value(3, 4, UnknownOccupancy)
			if want.Occupancy != Unknown {
				want.Queue = queue // 255 may well be a queue
			}
			be.PutUint32(b[l.Queue:], queue<<24|occupancy)
			if format == FormatGEANT {
				want.Ingress2, want.Egress2 = half(l.Level2Interfaces, 4, 5), half(l.Level2Interfaces+2, 5, 6)
			} else {
				for i, to := range []*uint32{&want.Ingress2, &want.Egress2} {
					var v uint32
					v, *to = value(4+i, uint32(5+i), Unknown)
					be.PutUint32(b[int(l.Level2Interfaces)+4*i:], v)
				}
			}
			var got Hop
			if l.Read(&got, b); got != want {
				t.Fatalf("format %d, unknown %06b: %+v\nwant %+v", format, which, got, want)
			}
		}
	}
}
