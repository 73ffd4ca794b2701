package checksum_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"intsink/engine/aside"
	"intsink/engine/aside/checksum"
	"intsink/engine/burst/bursttest"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// TestChecksumsAreSampled: what an operator sees of sources that adapt the checksum and
// of those that do not.
func TestChecksumsAreSampled(t *testing.T) {
	tcp := bursttest.TCP()
	adapted := bursttest.WithINT(t, bytes.Clone(tcp), bursttest.ByDSCP)
	leftAlone := bytes.Clone(adapted)
	copy(leftAlone[34+16:], tcp[34+16:34+18])
	noSum := bursttest.WithINT(t, bursttest.Plain(1), bursttest.ByDSCP)
	noSum[40], noSum[41] = 0, 0
	newUDP := bursttest.WithINT(t, bytes.Clone(tcp), func(s *intgen.Source, _ []intgen.Hop) { s.Marking = intgen.ByNewUDP })
	newUDP[40], newUDP[41] = 0, 0
	c, keep := bursttest.Adapting(), bursttest.Keeping()
	greFrame := bursttest.WithINT(t, bursttest.IPv4(0, packet.ProtoGRE, append([]byte{0, 0, 8, 0}, bursttest.Plain(1)[14:]...)), func(s *intgen.Source, _ []intgen.Hop) { s.Marking = intgen.ByGRE })
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
		{"UDP by port", c, bursttest.WithINT(t, bursttest.Plain(1), nil), checksum.Good, checksum.Good},
		{"a UDP header made for INT", c, newUDP, checksum.None, checksum.Good},
		{"GRE", c, greFrame, checksum.NumStates, 0},
		{"no INT", c, bursttest.Plain(1), checksum.NumStates, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			want := [checksum.NumStates][checksum.NumStates]uint64{}
			if x.before < checksum.NumStates {
				want[x.before][x.after] = 1
			}
			b, counters := bursttest.New(t, x.c), new(checksum.Counters)
			a := checksum.New([]*checksum.Counters{counters}, false)
			b.Parse(x.frame)
			if !a.Due(b.Burst, 0) {
				t.Fatal("no sample is due")
			}
			a.Arrived(b.Burst)
			b.Strip()
			if a.Leaving(b.Burst); counters.Checksums != want {
				t.Errorf("%v, want %v", counters.Checksums, want)
			}
		})
	}
}

// TestWhenASampleIsDue: once in so many INT packets, and once a second where there are fewer; a burst without INT, or of a tap,
// leaves it to the next.
func TestWhenASampleIsDue(t *testing.T) {
	const many = checksum.EveryPackets
	b := bursttest.New(t, bursttest.ByPort())
	a := checksum.New([]*checksum.Counters{new(checksum.Counters)}, false)
	start, host := b.Now, b.Served.Link.Host
	for _, x := range []struct {
		what        string
		packets, ns int64 // before the burst
		frame       []byte
		tap, due    bool
	}{
		{"the first", 0, 0, bursttest.WithINT(t, bursttest.Plain(1), nil), false, true},
		{"the next packet", 1, 0, nil, false, false},
		{"both a little too soon", many - 1, 1e9 - 1, nil, false, false},
		{"of a tap", many, 0, nil, true, false},
		{"of no packet", many, 0, nil, false, false},
		{"the first after a tap, without INT", many + 1, 0, bursttest.Plain(1), false, true},
		{"the first with INT", many + 2, 0, bursttest.WithINT(t, bursttest.Plain(1), nil), false, true},
		{"within a second", many + 3, 1e9 - 1, nil, false, false},
		{"after a second", many + 3, 1e9, bursttest.WithINT(t, bursttest.Plain(1), nil), false, true},
	} {
		if b.Now, b.Served.Link.Host = start+x.ns, host; x.tap {
			b.Served.Link.Host = nil
		}
		if x.frame != nil {
			b.Parse(x.frame)
		}
		due := a.Due(b.Burst, x.packets)
		if due != x.due {
			t.Errorf("%s: due is %v", x.what, due)
		}
		if due {
			a.Arrived(b.Burst)
		}
	}
	if packets, at := checksum.New(nil, true).Next(); packets != aside.Never || at != aside.Never {
		t.Errorf("of taps alone, a sample is due after %d packets or at %d", packets, at)
	}
}

// TestChecksumOfChains: wherever buffers end, the sum is the same.
func TestChecksumOfChains(t *testing.T) {
	b := bursttest.New(t, bursttest.ByPort())
	f := bursttest.Plain(1)
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
	v := b.Vec
	for cut := 42; cut < len(f)-1; cut++ {
		for _, c := range []struct {
			frame []byte
			want  checksum.State
		}{{f, checksum.Good}, {wrong, checksum.Bad}, {short, checksum.Bad}, {long, checksum.Bad}} {
			if !b.Pool.AllocBulk(v, 3) {
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
			b.Pool.FreeBulk(v, 1)
		}
	}
}
