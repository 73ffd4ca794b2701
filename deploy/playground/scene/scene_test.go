package scene

import (
	"encoding/binary"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
	"intsink/engine/wire/packet"
)

// seen is what the nodes wrote into the packets of one round.
type seen struct {
	packets int
	ways    map[[3]uint32]int
	lowest  map[uint32]uint32 // latency, by node
	longest int               // packet
}

// round plays a round, and reads what is in its packets.
func round(t *testing.T, n *Network) seen {
	t.Helper()
	s := seen{ways: map[[3]uint32]int{}, lowest: map[uint32]uint32{}}
	for step := range Steps {
		err := n.Step(step, time.Unix(1000, 0), func(frame []byte) {
			s.packets++
			s.longest = max(s.longest, len(frame))
			way := [3]uint32{}
			for i := range way {
				hop := frame[14+20+8+4+12+36*i:] // behind Ethernet, IPv4, UDP, shim and INT-MD; nine words each
				node, latency := binary.BigEndian.Uint32(hop), binary.BigEndian.Uint32(hop[8:])
				way[len(way)-1-i] = node
				if low, ok := s.lowest[node]; !ok || latency < low {
					s.lowest[node] = latency
				}
			}
			s.ways[way]++
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// through is how many packets of s went through all of the nodes.
func (s seen) through(nodes ...uint32) (n int) {
	for way, packets := range s.ways {
		has := 0
		for _, node := range way {
			for _, want := range nodes {
				if node == want {
					has++
				}
			}
		}
		if has == len(nodes) {
			n += packets
		}
	}
	return n
}

func do(t *testing.T, n *Network, words ...string) {
	t.Helper()
	for _, w := range words {
		if _, err := n.Do(w); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFaultsAreWhereTheySayTheyAre: each word changes what the answer to "what" says, and calm ends it.
func TestFaultsAreWhereTheySayTheyAre(t *testing.T) {
	n := New()
	calm := round(t, n)
	if calm.packets != Flows || len(calm.ways) != 3*4*2 {
		t.Errorf("%d packets on %d ways, want one of each of %d flows on 24", calm.packets, len(calm.ways), Flows)
	}
	for node, ns := range calm.lowest {
		if ns > 3000 {
			t.Errorf("node %d takes %d ns at least", node, ns)
		}
	}
	do(t, n, "slow")
	for node, ns := range round(t, n).lowest {
		if (node == slowSpine) != (ns > 200_000) {
			t.Errorf("slow: node %d takes %d ns at least", node, ns)
		}
	}
	do(t, n, "calm", "fill")
	if s := round(t, n); s.packets != Flows+burst-1 || s.longest > 1950 {
		t.Errorf("fill: %d packets, the longest of %d bytes", s.packets, s.longest)
	}
	do(t, n, "calm", "move")
	if s := round(t, n); s.through(dead) != 0 || s.through(standIn) != calm.through(dead)+calm.through(standIn) {
		t.Errorf("move: %d packets through %d, %d through %d", s.through(dead), dead, s.through(standIn), standIn)
	}
	do(t, n, "calm", "lose")
	lost := 0
	for range 100 {
		s := round(t, n)
		lost += Flows - s.packets
		if s.through(dead) != calm.through(dead) || calm.through(lossy, lossyTo)-s.through(lossy, lossyTo) != Flows-s.packets {
			t.Fatalf("lose: packets of other ways are lost")
		}
	}
	if all := 100 * calm.through(lossy, lossyTo); lost < all/7 || lost > all/4 {
		t.Errorf("lose: %d of %d packets, want one in five", lost, all)
	}
	do(t, n, "calm")
	if s := round(t, n); !maps.Equal(s.ways, calm.ways) {
		t.Errorf("calm: %v, want %v", s.ways, calm.ways)
	}
}

func TestWhatTells(t *testing.T) {
	n := New()
	if text, _ := n.Do("what"); text != "Nothing is wrong." {
		t.Errorf("%q", text)
	}
	do(t, n, "slow", "lose")
	if text, _ := n.Do(" what\n"); !strings.Contains(text, "spine 202") || !strings.Contains(text, "spine 201 to leaf 301") || strings.Contains(text, "203") {
		t.Errorf("%q", text)
	}
	if _, err := n.Do("explode"); err == nil || !strings.Contains(err.Error(), "explode") || !strings.Contains(err.Error(), "calm") {
		t.Errorf("%v", err)
	}
}

// TestOnLinux: packets of all flows are sent to the first router, with room for three nodes; words are its, too.
func TestOnLinux(t *testing.T) {
	n := New()
	var words []string
	var refused error
	n.OnLinux(func(word string) error { words = append(words, word); return refused })
	l := inthdr.NewLocator(inthdr.Config{Formats: inthdr.Formats{IOAM: &ioam.Config{Namespaces: []uint16{123}, FlowSequence: true}}})
	for step := range 2 * Steps {
		err := n.Step(step, time.Now(), func(frame []byte) {
			var p packet.Layers
			var i inthdr.Info
			if packet.Parse(frame, len(frame), &p) != packet.OK || l.Locate(frame, &p, &i) != inthdr.Sound || i.Removed != 96 || i.Hops != 0 {
				t.Fatalf("%+v %x", i, frame)
			}
			if number, bits := l.Sequence(frame, &i); number != uint64(1+step/Steps) || bits != 32 {
				t.Errorf("round %d: number %d", step/Steps, number)
			}
			if leaf := frame[27]; frame[4] != 2 || frame[5] != leaf&15 || leaf>>4 != 0 { // 2001:db8:101::
				t.Errorf("to %x from %x", frame[:6], frame[22:38])
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	do(t, n, "slow", "calm", "fill")
	refused = errors.New("no router")
	if _, err := n.Do("lose"); err != refused || strings.Join(words, " ") != "slow calm fill lose" {
		t.Errorf("%v: %v", words, err)
	}
	if text, _ := n.Do("what"); !strings.HasPrefix(text, "fill: ") || !strings.Contains(text, "8 out") || strings.Contains(text, "lose") {
		t.Errorf("%q", text)
	}
}
