package engine

import (
	"bytes"
	"encoding/binary"
	"testing"

	"intsink/engine/aside/checksum"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// checksumsOf is what a sink that reads INT as c says has counted after one second of these
// frames, one a burst.
func checksumsOf(t *testing.T, c inthdr.Config, frames ...[]byte) (n [checksum.NumStates][checksum.NumStates]uint64) {
	t.Helper()
	b := newBed(t, func(r *Rules) { r.INT = c })
	for _, f := range frames {
		b.network.RX = [][]byte{bytes.Clone(f)}
		b.Poll()
		b.step(1e9)
	}
	n = b.Snapshot().Links[0].Checksum.Checksums
	b.balance()
	return n
}

// adaptingAndKeeping returns two ways to read INT: with sources that adapt the L4 checksum, and
// with sources that keep the host's.
func adaptingAndKeeping() (adapting, keeping inthdr.Config) {
	port, gre := uint16(5000), uint16(0x88b6)
	adapting = inthdr.Config{UDPPort: &port, GREProtocol: &gre, DSCP: []inthdr.DSCP{{Value: 23, Mask: 63}}, Version2: true}
	keeping = adapting
	keeping.KeepChecksum = true
	return adapting, keeping
}

// TestChecksumsAreSampled: what an operator sees of sources that adapt the checksum and
// of those that do not.
func TestChecksumsAreSampled(t *testing.T) {
	tcp := tcpPacket()
	adapted := withINT(t, bytes.Clone(tcp), byDSCP)
	leftAlone := bytes.Clone(adapted)
	copy(leftAlone[34+16:], tcp[34+16:34+18])
	noSum := withINT(t, plain(1), byDSCP)
	noSum[40], noSum[41] = 0, 0
	newUDP := withINT(t, bytes.Clone(tcp), func(s *intgen.Source, _ []intgen.Hop) { s.Marking = intgen.ByNewUDP })
	newUDP[40], newUDP[41] = 0, 0
	c, keep := adaptingAndKeeping()
	greFrame := withINT(t, ipv4(0, packet.ProtoGRE, append([]byte{0, 0, 8, 0}, plain(1)[14:]...)), func(s *intgen.Source, _ []intgen.Hop) { s.Marking = intgen.ByGRE })
	for _, x := range []struct {
		name          string
		c             inthdr.Config
		frame         []byte
		before, after checksum.State
	}{
		{"adapted", c, adapted, checksum.Good, checksum.Good},
		{"left alone", c, leftAlone, checksum.Bad, checksum.Bad},
		{"left alone, and kept", keep, leftAlone, checksum.Bad, checksum.Good},
		{"adapted, and kept", keep, adapted, checksum.Good, checksum.Bad},
		{"no checksum", c, noSum, checksum.None, checksum.None},
		{"UDP by port", c, withINT(t, plain(1), nil), checksum.Good, checksum.Good},
		{"a UDP header made for INT", c, newUDP, checksum.None, checksum.Good},
		{"GRE", c, greFrame, checksum.NumStates, 0},
		{"no INT", c, plain(1), checksum.NumStates, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			want := [checksum.NumStates][checksum.NumStates]uint64{}
			if x.before < checksum.NumStates {
				want[x.before][x.after] = 2
			}
			if got := checksumsOf(t, x.c, x.frame, x.frame); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// TestChecksumSamplesAreFew: one in so many INT packets, and one a second.
func TestChecksumSamplesAreFew(t *testing.T) {
	f := withINT(t, plain(1), nil)
	b := newBed(t, nil)
	for range 8 * checksum.EveryPackets / 32 {
		for range 32 {
			b.network.RX = append(b.network.RX, bytes.Clone(f))
		}
		b.Poll()
		b.host.TX = b.host.TX[:0]
	}
	b.step(2e6)
	if n := b.Snapshot().Links[0].Checksum.Checksums[checksum.Good][checksum.Good]; n != 8 {
		t.Errorf("%d samples of %d packets, want 8", n, 8*checksum.EveryPackets)
	}
	b.balance()
}

// TestChecksumOfChains: wherever buffers end, the sum is the same.
func TestChecksumOfChains(t *testing.T) {
	b := newBed(t, nil)
	f := plain(1)
	wrong := bytes.Clone(f)
	wrong[len(wrong)-1]++
	short := bytes.Clone(f)
	binary.BigEndian.PutUint16(short[38:], 7)
	long := bytes.Clone(f)
	binary.BigEndian.PutUint16(long[38:], uint16(len(f)-34+1))
	var l packet.Layers
	if packet.Parse(f, len(f), &l) != packet.OK {
		t.Fatal("not parsed")
	}
	v := b.burst.Vec
	for cut := 42; cut < len(f)-1; cut++ {
		for _, c := range []struct {
			frame []byte
			want  checksum.State
		}{{f, checksum.Good}, {wrong, checksum.Bad}, {short, checksum.Bad}, {long, checksum.Bad}} {
			if !b.pool.AllocBulk(v, 3) {
				t.Fatal("no mbufs")
			}
			copy(v[0].SetLen(cut), c.frame)
			copy(v[1].SetLen(1), c.frame[cut:])
			copy(v[2].SetLen(len(f)-cut-1), c.frame[cut+1:])
			v[0].Chain(v[1])
			v[0].Chain(v[2])
			if got := checksum.Of(v[0], &l); got != c.want {
				t.Errorf("cut at %d: %v, want %v", cut, got, c.want)
			}
			b.pool.FreeBulk(v, 1)
		}
	}
	b.balance()
}
