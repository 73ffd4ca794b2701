package report_test

import (
	"fmt"
	"net/netip"
	"testing"

	"intsink/engine/wire/report"
)

// anEpisode is one with so many culprits and victims, by turns of IPv4 and IPv6.
func anEpisode(culprits, victims int) report.Episode {
	e := report.Episode{
		ID: 1, Node: 2, Egress: 3, Queue: 4, Begin: 5 << 50, End: 6 << 50, Packets: 7 << 40, Bytes: 8 << 50, UsualLatency: 9, UsualOccupancy: 10,
		Peak: report.EpisodePeak{At: 11 << 48, Latency: 12, Occupancy: 13, Window: 14 << 40, Packets: 15, Bytes: 16 << 33}, NumCulprits: culprits, NumVictims: victims,
	}
	for i := range culprits + victims {
		f := report.EpisodeFlow{
			Source: netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), Destination: netip.AddrFrom4([4]byte{10, 1, 0, byte(i)}),
			SourcePort: uint16(1000 + i), DestinationPort: uint16(2000 + i), Protocol: 17, Sum: uint64(i+1) << 40, Over: uint64(i) << 30,
		}
		if i%2 == 1 {
			f.Source, f.Destination = netip.AddrFrom16([16]byte{0xfd, 15: byte(i)}), netip.AddrFrom16([16]byte{0xfe, 15: byte(i)})
		}
		if i < culprits {
			e.Culprits[i] = f
		} else {
			e.Victims[i-culprits] = f
		}
	}
	if culprits > 0 {
		e.Doubt = report.FewBytes
	}
	if culprits > 1 {
		e.OtherPackets, e.OtherBytes = 17<<33, 18<<34
	}
	return e
}

// TestEpisodeReadsWhatItWrote: every field; of bytes that are cut, or more, it takes nothing.
func TestEpisodeReadsWhatItWrote(t *testing.T) {
	for _, n := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {3, 5}, {report.MostFlows, report.MostFlows}} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			want := anEpisode(n[0], n[1])
			b := want.Append(nil)
			if len(b) != want.Len() || len(b)%4 != 0 || len(b) > report.MaxEpisodeLen {
				t.Errorf("%d bytes, Len is %d", len(b), want.Len())
			}
			var got report.Episode
			if !got.Get(b) || got != want {
				t.Errorf("%+v\nwant %+v", got, want)
			}
			for cut := range b {
				if got.Get(b[:cut]) && (want.OtherBytes == 0 || cut != len(b)-16 || got.OtherBytes != 0) { // without others it is one, too
					t.Errorf("%d of %d bytes are taken", cut, len(b))
				}
			}
			if got.Get(append(b, 0)) {
				t.Error("a byte more is taken")
			}
		})
	}
}

// TestEpisodeHasSense: what no sink writes is no episode.
func TestEpisodeHasSense(t *testing.T) {
	for name, change := range map[string]func(e *report.Episode){
		"ends before it begins": func(e *report.Episode) { e.End = e.Begin - 1 },
		"before 1970":           func(e *report.Episode) { e.Begin = -1 },
		"over above sum":        func(e *report.Episode) { e.Culprits[0].Over = e.Culprits[0].Sum + 1 },
	} {
		e := anEpisode(2, 1)
		if change(&e); new(report.Episode).Get(e.Append(nil)) {
			t.Errorf("%s: taken", name)
		}
	}
	e := anEpisode(2, 1)
	const counts, version = 11, 88 // where the numbers of flows, and the IP version of the first one stand
	for at, v := range map[int]byte{counts: 9<<4 | 1, version: 5} {
		b := e.Append(nil)
		if b[at] = v; new(report.Episode).Get(b) {
			t.Errorf("byte %d is %d: taken", at, v)
		}
	}
}

// TestEpisodeIsShortened: the flows named last go first, until the rest fits.
func TestEpisodeIsShortened(t *testing.T) {
	whole := anEpisode(report.MostFlows, report.MostFlows)
	for most := range whole.Len() + 1 {
		e := whole
		if ok := e.Shorten(most); ok != (e.Len() <= most) || ok && e.NumCulprits < e.NumVictims {
			t.Errorf("%d bytes: %v, has %d with %d culprits, %d victims", most, ok, e.Len(), e.NumCulprits, e.NumVictims)
		}
		if most == whole.Len() && e != whole {
			t.Error("shortened though it fits")
		}
	}
}
