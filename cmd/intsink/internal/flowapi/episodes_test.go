package flowapi

import (
	"strings"
	"testing"

	"intsink/engine/episode"
	"intsink/engine/wire/report"
	"intsink/flows"
)

// TestEpisodeItem: a record as JSON has what was counted, whose packets they were, and the windows up to the last packet.
func TestEpisodeItem(t *testing.T) {
	b, fast, slow := episode.New(), new(flows.Key), new(flows.Key)
	fast.SetIPv4(0x0a000001, 0x0a010001)
	slow.SetIPv4(0x0a000002, 0x0a010001)
	id := b.Begin(1000, [2]uint64{302<<32 | 15, 2}, 1700, 0)
	for n := range int64(10) {
		b.Count(1000+n*4e6, id, &episode.Packet{Flow: fast, Values: episode.Values{Bytes: 1700, Latency: 91_700, Occupancy: 9000 + uint32(n), ECN: uint8(n % 4)}})
		b.Count(1000+n*4e6, id, &episode.Packet{Flow: slow, Values: episode.Values{Bytes: 100, Latency: 101_700, Occupancy: 1<<32 - 1}})
	}
	tallies, queue := b.NewTallies(), [2]uint64{302<<32 | 15, 2}
	defer tallies.Close()
	tallies.CountOther(queue, new(flows.Key), &episode.Values{Bytes: 2000, Latency: 5000, Occupancy: 1})
	_, place := tallies.Of(queue)
	tallies.Leave(1000, place)
	open := b.Open()[0]
	x := NewEpisodeItem(&open)
	if text := episodesText([]*EpisodeItem{x}); x.OtherPackets != 1 || x.OtherBytes != 2000 || !strings.HasSuffix(text, " filled it, with 85 % of 20 kB, flows without a record: 10 %") {
		t.Errorf("%+v, %q", x, text)
	}
	if x.End != nil || x.Ended != "open" || x.Node != 302 || *x.Egress != 15 || x.Queue != 2 || x.Packets != 21 || x.Bytes != 20_000 ||
		*x.PeakLatencyNs != 101_700 || *x.PeakOccupancy != 9009 || *x.UsualLatencyNs != 1700 || x.UsualOccupancy != nil || x.ECNCapable != 7 || x.ECNMarked != 2 {
		t.Errorf("%+v", x)
	}
	if len(x.Culprits) != 2 || x.Culprits[0].Bytes != 17_000 || x.Culprits[0].Share != 0.85 || x.Doubt != "" || len(x.Victims) != 2 || x.Victims[0].AddedNs != 1_000_000 {
		t.Errorf("culprits %+v, victims %+v", x.Culprits, x.Victims)
	}
	if len(x.Windows) != 4 || x.Windows[0].Packets != 7 || x.Windows[3].Occupancy != 9009 {
		t.Errorf("windows %+v", x.Windows)
	}
	b.End(5e8, id, episode.Silent)
	ended, _ := b.Ended(0)
	if x := NewEpisodeItem(&ended[0]); x.End == nil || x.Ended != "silent" {
		t.Errorf("%+v", x)
	}
	id = b.Begin(1000, [2]uint64{302<<32 | 15, 2}, 1700, 0)
	b.Count(1000, id, &episode.Packet{Flow: fast, Values: episode.Values{Bytes: 99_000, Latency: 9000, Occupancy: 9}})
	open, met := b.Open()[0], 0
	x = NewEpisodeItem(&open)
	x.eachFlow(func(string) { met++ })
	if text := episodesText([]*EpisodeItem{x}); len(x.Culprits) != 0 || x.Doubt != report.OneSource.String() || met != 2 || !strings.HasSuffix(text, "; told by one source alone: who filled it is not known") {
		t.Errorf("%+v, %d flows, %q", x, met, text)
	}
}
