// Bed: a link, and the burst at hand, made by hand.

// Package bursttest makes bursts by hand, for tests of one stage or aside: bytes in, bytes out,
// verdicts, counters.
//
//	b := bursttest.New(t, inthdr.Config{UDPPort: &port, Version2: true})
//	b.Parse(bursttest.WithINT(t, bursttest.Plain(1), nil)) // what stages in front would know of it
//	strip.New().Unwatched(b.Burst)
//	b.Expect(bursttest.Plain(1))
//
//	bed.go      Bed: a link, and the burst at hand
//	packets.go  packets with INT, and in tunnels
package bursttest

import (
	"bytes"
	"math/bits"
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/enginetest"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
	"intsink/flows"
)

// Bed is a burst of a link between two ports in memory, and what stages share: a detector with one watch, for new flows.
type Bed struct {
	*burst.Burst
	Pool          *mbuf.Arena
	Table         *flows.Table
	Detector      *event.Detector
	Served        burst.Served
	Network, Host *enginetest.Port

	t testing.TB
}

// New makes a bed whose link has INT as c says; at the end of the test no packet is lost.
func New(t testing.TB, c inthdr.Config) *Bed {
	pool, err := mbuf.NewArena(256, 2304)
	if err != nil {
		t.Fatal(err)
	}
	b := &Bed{
		Burst: burst.New(), Pool: pool, Table: flows.New(flows.Config{Capacity: 1024, Seed: 7, IdleTimeout: 30e9}),
		Detector: event.New([]event.Policy{{Events: event.NewFlow.Set()}}, 7), Network: enginetest.NewPort(pool), Host: enginetest.NewPort(pool), t: t,
	}
	r := &burst.Reading{Locator: inthdr.NewLocator(c), Fast: fast.New(b.Table.Index(), b.Detector.View())}
	r.Fast.Configure(r.Locator.Marks())
	b.Served = burst.Served{
		Link:    &burst.Link{Name: "edge", Network: b.Network, Host: b.Host, NetworkID: 1, HostID: 2},
		Reading: r, Counters: new(burst.Counters), Limits: new(burst.Limits),
	}
	b.Now = 1_000_000_000
	t.Cleanup(func() {
		if b.Free(); pool.InUse() != 0 {
			t.Errorf("%d mbufs did not come home", pool.InUse())
		}
		b.Table.Close()
		b.Detector.Close()
		pool.Close()
	})
	return b
}

// Come makes frames the burst at hand, as they come in direction d.
func (b *Bed) Come(d burst.Direction, frames ...[]byte) {
	b.t.Helper()
	b.Free()
	if b.N = len(frames); !b.Pool.AllocBulk(b.Vec, b.N) {
		b.t.Fatal("no mbufs")
	}
	for i, f := range frames {
		copy(b.Vec[i].SetLen(len(f)), f)
	}
	b.Arrive(&b.Served, d)
}

// Match has package fast receive frames from the network, as stage match does. The first of their shape are unknown.
func (b *Bed) Match(frames ...[]byte) {
	b.t.Helper()
	b.Come(burst.ToHost, frames...)
	b.Fast.Receive(&fast.Burst{Vec: b.Vec, N: b.N, Now: b.Now, Watched: b.Watched, Generation: b.Generation})
}

// Parse has frames come from the network, and finds their headers and INT as stage parse does, but for templates. All
// packets keep their INT, and are to be stripped.
func (b *Bed) Parse(frames ...[]byte) {
	b.t.Helper()
	b.Match(frames...)
	b.Unlike = true
	gone := uint64(0)
	for left := b.Fast.Unknown; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left)
		i := b.Fast.At[j]
		m, l, info := b.Vec[i], &b.Layers[i], &b.Info[i]
		if packet.Parse(m.Bytes(), m.PktLen(), l) != packet.OK || b.Link.Locator.Find(m.Bytes(), l, info, &b.Outers[i]) != inthdr.Sound {
			gone |= 1 << j
			continue
		}
		b.Link.Locator.Classify(info)
		info.Size = l.End - info.Removed
		burst.SetKey(&b.Fast.Keys[j], m.Bytes(), l, info)
		b.Fast.Hashes[j] = b.Table.Hash(&b.Fast.Keys[j])
		b.Parsed |= 1 << i
	}
	b.Fast.Drop(gone)
	b.KeepLeft()
}

// Resolve finds or makes the flows of all packets with INT, as stage lookup does.
func (b *Bed) Resolve() {
	n := b.Fast.Len()
	b.Fresh = b.Table.LookupBurst(b.Now, b.Fast.Keys[:n], b.Fast.Hashes[:n], b.Fast.Flows[:n])
}

// Strip takes the INT of one layer out of all packets that have it, as stage strip does.
func (b *Bed) Strip() {
	for _, i := range b.Fast.At[:b.Fast.Len()] {
		b.Vec[i].Adj(strip.Strip(b.Vec[i].Bytes(), &b.Layers[i], &b.Info[i], &b.Outers[i]))
	}
}

// Free frees the packets of the burst, dropped or not.
func (b *Bed) Free() {
	b.Pool.FreeBulk(b.Vec, b.N)
	b.N, b.NDrop = 0, 0
}

// Left is the packets of the burst that are not dropped.
func (b *Bed) Left() (all [][]byte) {
	for i, m := range b.Vec[:b.N] {
		if b.Verdict[i] == burst.Forward {
			all = append(all, m.AppendTo(nil, m.PktLen()))
		}
	}
	return all
}

// Expect compares the packets that are not dropped with want.
func (b *Bed) Expect(want ...[]byte) {
	b.t.Helper()
	if got := b.Left(); !slices.EqualFunc(got, want, bytes.Equal) {
		b.t.Errorf("left\n%x\nwant\n%x", got, want)
	}
}

// ExpectDropped compares what was dropped in the direction of the burst, since the bed was made: n packets, for why, and
// none for another reason.
func (b *Bed) ExpectDropped(why burst.DropReason, n uint64) {
	b.t.Helper()
	var want [burst.NumDropReasons]uint64
	want[why] = n
	if got := b.Served.Counters.Direction[b.Direction].Dropped; got != want {
		b.t.Errorf("dropped %v, want %d for %v", got, n, why)
	}
}
