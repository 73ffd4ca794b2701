//go:build vm

package vm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/engine/wire/intgen"
	"intsink/internal/rawsocket"
)

// sent is a frame, and what has to come of it.
type sent struct {
	frame, want []byte
	kind        string
	flow        int // frames of one flow have to stay in their order
}

// marked are n packets with INT of every kind that the configuration takes, some of them longer than
// 1500 bytes with it, jumbo of them up to 9000 bytes.
func marked(t *testing.T, seed uint64, n, jumbo int) (all []sent) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	for len(all) < n {
		orig, s, hops := intgen.Random(r)
		if s.Marking == intgen.ByDSCP || s.Marking == intgen.ByProbeMarker || s.BeforeOptions || s.DomainID != 0 || s.Discard {
			continue // of other configurations, or not for hosts
		}
		frame, err := s.Insert(orig, hops)
		if err != nil || len(orig) < 60 || len(frame) > 1514+280 || behindAH(orig) { // shorter ones are padded on a wire
			continue
		}
		all = append(all, sent{frame: frame, want: orig, kind: fmt.Sprintf("marking %d, %d hops, %d bytes", s.Marking, len(hops), len(frame))})
	}
	for i := range jumbo {
		f := flow(i)
		frame, want := withINT(t, f, 1500+r.IntN(9000-1500-300), uint32(i))
		all = append(all, sent{frame: frame, want: want, kind: fmt.Sprintf("jumbo, %d bytes", len(frame))})
	}
	return all
}

// plain are frames without INT: the sink passes them as they are.
func plain(seed uint64, n int) (all []sent) {
	r := rand.New(rand.NewPCG(seed, 2))
	for len(all) < n {
		if orig, _, _ := intgen.Random(r); len(orig) >= 60 && len(orig) <= 1514 && !behindAH(orig) {
			all = append(all, sent{frame: orig, want: orig, kind: fmt.Sprintf("plain, %d bytes", len(orig))})
		}
	}
	return all
}

// behindAH tells whether an IPv6 packet has an authentication header: QEMU's NICs read on behind it,
// and send nothing where they find no header there.
func behindAH(frame []byte) bool {
	at := 12
	for ; frame[at] != 0x86 || frame[at+1] != 0xdd; at += 4 {
		if frame[at] != 0x81 && frame[at] != 0x88 {
			return false
		}
	}
	next, b := frame[at+8], frame[at+42:]
	for next == 0 || next == 43 || next == 60 {
		if len(b) < 8 || len(b) < 8+8*int(b[1]) {
			return true
		}
		next, b = b[0], b[8+8*int(b[1]):]
	}
	return next == 51
}

// flow is one of some ordinary flows. Address and port do not count alike: in a hash that is the same for both directions they
// would cancel each other.
func flow(i int) *intgen.Flow {
	return &intgen.Flow{Src: netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), Dst: netip.MustParseAddr("10.1.0.1"), Proto: intgen.UDP, SrcPort: uint16(1024 + 37*i), DstPort: 8000}
}

// withINT is a packet of the flow with the INT of three hops, and without.
func withINT(t *testing.T, f *intgen.Flow, payload int, id uint32) (frame, orig []byte) {
	t.Helper()
	orig = f.Frame(payload, id)
	hops := make([]intgen.Hop, 3)
	for i := range hops {
		hops[i] = intgen.Hop{NodeID: uint32(103 - i), Ingress: 1, Egress: 2, LatencyNs: 10_000}
	}
	frame, err := (&intgen.Source{UDPPort: 5000, Bitmap: 0xf000, MaxHops: 8}).Insert(orig, hops)
	if err != nil {
		t.Fatal(err)
	}
	return frame, orig
}

// ordered are n packets of 32 flows with INT, numbered.
func ordered(t *testing.T, n int) (all []sent) {
	for i := range n {
		frame, want := withINT(t, flow(i%32), 200, uint32(i))
		all = append(all, sent{frame: frame, want: want, kind: fmt.Sprintf("flow %d, packet %d of %d", i%32, i, n), flow: 1 + i%32})
	}
	return all
}

// exchange sends frames into one tap, and compares what comes out of the other: every frame, to the
// byte, in the order of its flow, and no other.
func exchange(t *testing.T, in, out string, frames []sent) {
	t.Helper()
	arrived := collect(t, out, func(count func() int) { send(t, in, frames, count) }, len(frames))
	missing := map[string][]int{} // by content, which are not there yet
	for i, f := range frames {
		missing[string(f.want)] = append(missing[string(f.want)], i)
	}
	foreign, last := 0, map[int]int{}
	for _, b := range arrived {
		at := missing[string(b)]
		if len(at) == 0 {
			if foreign++; foreign <= 3 {
				t.Errorf("%s to %s: a frame of %d bytes that nobody sent: %x", in, out, len(b), b[:min(len(b), 80)])
			}
			continue
		}
		missing[string(b)] = at[1:]
		if f := frames[at[0]].flow; at[0] < last[f] {
			t.Errorf("%s to %s: packet %d comes behind packet %d of its flow", in, out, at[0], last[f])
		} else {
			last[f] = at[0]
		}
	}
	var gone []int
	for _, at := range missing {
		gone = append(gone, at...)
	}
	slices.Sort(gone)
	lost := len(gone)
	for _, i := range gone[:min(lost, 20)] {
		t.Errorf("%s to %s: lost: %s: %x", in, out, frames[i].kind, frames[i].want[:min(len(frames[i].want), 60)])
	}
	if lost > 0 {
		t.Logf("the taps have\n%s%s", ip(t, "-s", "link", "show", "dev", in), ip(t, "-s", "link", "show", "dev", out))
	}
	t.Logf("%s to %s: %d frames sent, %d arrived as they have to, %d lost, %d changed", in, out, len(frames), len(frames)-lost, lost, foreign)
}

// underWay is how many frames may be on their way: emulated NICs have small queues, and who empties them may be slow.
const underWay = 64

// send sends frames as fast as count, the number of those that arrived, follows. What does not follow within five
// seconds is taken for lost.
func send(t *testing.T, tap string, frames []sent, count func() int) {
	t.Helper()
	i := open(t, tap)
	defer i.Close()
	lost := 0
	for n, f := range frames {
		for end := time.Now().Add(patience * 5 * time.Second); n-lost-count() >= underWay; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				lost = n - count()
			}
		}
		if !i.Send(f.frame) {
			t.Fatalf("%s takes no frame of %d bytes", tap, len(f.frame))
		}
	}
}

// traffic sends about a thousand frames a second into a tap until stop is called. Nobody checks where they arrive.
func traffic(t *testing.T, tap string) (stop func()) {
	t.Helper()
	i, frames := open(t, tap), ordered(t, 100)
	done := make(chan struct{})
	var sending sync.WaitGroup
	sending.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				i.Close()
				return
			case <-time.After(time.Millisecond):
				i.Send(frames[n%len(frames)].frame) // or not, where the tap is full
			}
		}
	})
	return func() {
		close(done)
		sending.Wait()
	}
}

// collect returns what comes out of a tap from before do, which may ask how many did, until n frames are there, or none
// came for five seconds after it.
func collect(t *testing.T, tap string, do func(count func() int), n int) (arrived [][]byte) {
	t.Helper()
	i := open(t, tap)
	var stop atomic.Bool
	var count, at atomic.Int64
	var receiving sync.WaitGroup
	receiving.Go(func() {
		i.Receive(&stop, func(b []byte) {
			arrived = append(arrived, bytes.Clone(b))
			count.Add(1)
			at.Store(time.Now().UnixNano())
		})
	})
	do(func() int { return int(count.Load()) })
	done := time.Now()
	for count.Load() < int64(n) && time.Since(done) < patience*5*time.Second {
		time.Sleep(10 * time.Millisecond)
		if last := time.Unix(0, at.Load()); last.After(done) {
			done = last
		}
	}
	time.Sleep(200 * time.Millisecond) // for what comes twice
	stop.Store(true)
	receiving.Wait()
	i.Close()
	return arrived
}

func open(t *testing.T, tap string) *rawsocket.Interface {
	t.Helper()
	i, err := rawsocket.Open(tap)
	if err != nil {
		t.Fatal(err)
	}
	return i
}
