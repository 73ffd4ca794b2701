package passall_test

import (
	"bytes"
	"testing"

	"intsink/engine/aside"
	"intsink/engine/aside/passall"
	"intsink/engine/burst"
	"intsink/engine/burst/bursttest"
)

// station counts what it hears.
type station int

func (s *station) Hear([]byte, int64) { *s++ }
func (s *station) Tick(int64)         {}

// ndp is a Neighbor Solicitation behind so many tags.
func ndp(tags int) []byte {
	f := bytes.Repeat([]byte{2}, 12)
	for range tags {
		f = append(f, 0x81, 0, 0, 7)
	}
	f = append(f, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 24, 58, 255)
	return append(f, make([]byte, 32+24)...)
}

// TestPacketsPassAsTheyCame from the next tick on, are counted from the network, and neighbours are heard.
func TestPacketsPassAsTheyCame(t *testing.T) {
	b, counters := bursttest.New(t, bursttest.ByPort()), new(passall.Counters)
	var network, host station
	b.Served.Link.NetworkStation, b.Served.Link.HostStation = &network, &host
	a := passall.New([]*passall.Counters{counters})
	a.Ask(true)
	if packets, _ := a.Next(); a.On || packets != aside.Never {
		t.Error("packets pass before a tick")
	}
	a.Tick(0)
	if packets, at := a.Next(); !a.On || packets != 0 || at != 0 {
		t.Error("not each burst is due")
	}
	arp := append(bytes.Repeat([]byte{2}, 12), append([]byte{0x08, 0x06}, make([]byte, 46)...)...)
	sent := [][]byte{bursttest.WithINT(t, bursttest.Plain(1), bursttest.Discarded), bursttest.Plain(2), arp, ndp(0), ndp(2), arp[:13]}
	for d, heard := range map[burst.Direction]*station{burst.ToHost: &network, burst.ToNetwork: &host} {
		b.Come(d, sent...)
		a.Do(b.Burst)
		if b.Expect(sent...); *heard != 3 || b.HasLeft() || d == burst.ToHost && b.Fast.Len() != 0 {
			t.Errorf("%v: %d heard, left to report %+v", d, *heard, b.AllLeft())
		}
	}
	if counters.Passed != uint64(len(sent)) {
		t.Errorf("%d passed", counters.Passed)
	}
}
