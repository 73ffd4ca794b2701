//go:build !race

package flows

import (
	"fmt"
	"testing"
)

// flood is a million packets a second of flows that have few packets each and never come
// again, into a table of 65536, beside 1000 flows that were known before and have a packet
// every 500 ms.
type flood struct {
	packets int // of one flow
	turns   int // flows whose packets take turns; 1: those of a flow come in a row
	before  int // packets that each known flow had when the flood began
}

const (
	floodTime   = 20 * second
	floodKnown  = 1000
	floodPeriod = second / 2
	floodBurst  = 64
)

// play returns how many packets of the known flows found theirs, and how many did not.
func (f flood) play() (known, unknown int) {
	t := New(Config{Capacity: 65536, Seed: 7, IdleTimeout: 60 * second})
	defer t.Close()
	var keys [floodBurst]Key
	var hashes [floodBurst]uint64
	var out [floodBurst]*Flow
	look := func(now int64, n int) (fresh uint64) {
		for i := range n {
			hashes[i] = t.Hash(&keys[i])
		}
		fresh = t.LookupBurst(now, keys[:n], hashes[:n], out[:n])
		for _, f := range out[:n] {
			if f != nil {
				f.Count(100)
			}
		}
		return fresh
	}
	start := int64(1e18)
	turn, due := uint32(0), 0
	for now := start - int64(f.before)*floodPeriod; now < start+floodTime; now += floodBurst * 1000 {
		n := 0
		for ; n < floodBurst && now >= start; n++ {
			keys[n] = floodKey(f.flow(turn), 2)
			turn++
		}
		look(now, n)
		for n = 0; n < floodBurst && start+int64(due-f.before*floodKnown)*(floodPeriod/floodKnown) <= now; n++ {
			keys[n] = floodKey(uint32(due%floodKnown), 1)
			due++
		}
		fresh := look(now, n)
		for i := 0; i < n && now >= start; i++ {
			if out[i] == nil || fresh>>i&1 != 0 {
				unknown++
			} else {
				known++
			}
		}
		t.Age(now, func(*Flow) {})
	}
	return known, unknown
}

// flow is the number of the flow that packet i belongs to.
func (f flood) flow(i uint32) uint32 {
	round := i / uint32(f.packets*f.turns)
	return round*uint32(f.turns) + i%uint32(f.turns)
}

func floodKey(i uint32, net byte) (k Key) {
	k.SetIPv4(uint32(net)<<24|i&0xffffff, 0x0a000001)
	k.SetPorts(4, 17, uint16(i>>24), 4000)
	return k
}

// TestFloodOfFewPackets: while flows of one, two or ten packets come at full rate into a
// full table, a flow with a packet in the last half second is known at 99 % of its
// packets: also one that had its first packet just before the flood.
func TestFloodOfFewPackets(t *testing.T) {
	for _, f := range []flood{
		{1, 1, 2}, {2, 1, 2}, {10, 1, 2}, {10, 1, 1}, {10, 100_000, 3},
	} {
		t.Run(fmt.Sprintf("%d packets, %d flows in turns, %d packets before", f.packets, f.turns, f.before), func(t *testing.T) {
			known, unknown := f.play()
			if known+unknown < 39_900 || unknown*100 > known+unknown {
				t.Errorf("%d packets of known flows found theirs, %d did not; want 99 %%", known, unknown)
			}
		})
	}
}

// TestIdleInFlood: in a flood a young flow counts as idler than any that is not: of one packet or silent for half
// of its time by two seconds, another by one, and the more the younger it is.
func TestIdleInFlood(t *testing.T) {
	for _, c := range []struct {
		name    string
		packets uint32
		idle    int64
		ticks   uint16 // of 1<<22 ns, since its birth
		want    int64
	}{
		{"born now", 1, 7, 0, 2e9 + 1_000_000_001},
		{"one packet", 1, 5000, 100, 2e9 + 895_143_650},
		{"silent for half of its time", 2, 211_812_352, 100, 2e9 + 896_190_976},
		{"for less", 2, 211_812_351, 100, 1e9 + 896_190_976},
		{"with many packets", 511, 211_812_351, 100, 1e9 + 896_190_976},
		{"with too many for a young one", 512, 211_812_351, 100, 211_812_351},
		{"the last tick of its youth", 2, 9, 953, 1e9 + 707_074},
		{"behind it", 1, 9, 954, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Flow{packets: c.packets}
			if got := f.idleInFlood(c.idle, c.ticks); got != c.want {
				t.Errorf("counts as idle for %d ns, want %d", got, c.want)
			}
		})
	}
}
