package collect

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/engine/wire/report"
	"intsink/exporters/collect/spool"
	"intsink/exporters/record"
)

// told is an episode as a sink tells it, in milliseconds of one day, with one culprit for each byte count.
func told(sink uint64, id uint32, queue uint8, begin, end int64, culprits ...uint64) *heldEpisode {
	const day = 1763776800_000000000
	e := record.Episode{Sinks: 1, Episode: report.Episode{
		ID: id, Node: 302, Egress: 15, Queue: queue, Begin: day + begin*1e6, End: day + end*1e6,
		Peak: report.EpisodePeak{At: day + begin*1e6, Latency: uint32(100 * sink), Occupancy: uint32(1000 / sink), Packets: uint32(sink)},
	}}
	for i, n := range culprits {
		e.Packets, e.Bytes = e.Packets+1, e.Bytes+n
		e.Culprits[i] = report.EpisodeFlow{Source: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), Destination: netip.AddrFrom4([4]byte{10, 1, 0, byte(sink)}), Sum: n}
		e.NumCulprits++
	}
	return &heldEpisode{whole: e, parts: []episodePart{{episodeSink{instance: sink}, id, e.Begin}}}
}

// text is what matters of episodes in one line each.
func text(all []*heldEpisode) string {
	var lines []string
	for _, h := range all {
		e := &h.whole
		const day = 1763776800_000000000
		lines = append(lines, fmt.Sprintf("%d: %d to %d ms, %d bytes, peak %d %d, %d sinks, %d culprits", e.Queue, (e.Begin-day)/1e6, (e.End-day)/1e6, e.Bytes, e.Peak.Latency, e.Peak.Occupancy, e.Sinks, e.NumCulprits))
	}
	return strings.Join(lines, "\n")
}

// TestDoubtOfSeveralSinks: what one sink has evidence of nobody doubts, nor what several sources told, each to a sink of its own.
func TestDoubtOfSeveralSinks(t *testing.T) {
	for name, c := range map[string]struct {
		a, b          report.Doubt
		none, victims bool // the first has no culprits; they have victims of their own
		want          report.Doubt
	}{
		"both know":               {want: report.NoDoubt},
		"one knows":               {a: report.OneSource, want: report.NoDoubt},
		"the other one knows":     {b: report.FewBytes, want: report.NoDoubt},
		"none knows":              {a: report.FewBytes, b: report.FewBytes, want: report.FewBytes},
		"the same source":         {a: report.OneSource, b: report.OneSource, want: report.OneSource},
		"two sources":             {a: report.OneSource, b: report.OneSource, victims: true, want: report.NoDoubt},
		"one names nobody at all": {none: true, b: report.OneSource, want: report.OneSource},
	} {
		a, b := told(1, 1, 0, 0, 50, 900), told(2, 7, 0, 20, 80, 100)
		if c.none {
			a = told(1, 1, 0, 0, 50)
		}
		a.whole.OtherPackets, b.whole.OtherPackets, a.whole.OtherBytes, b.whole.OtherBytes = 1, 2, 100, 200
		for i, h := range []*heldEpisode{a, b} {
			h.whole.Doubt = []report.Doubt{c.a, c.b}[i]
			host := byte(1)
			if c.victims {
				host += byte(i)
			}
			h.whole.Victims[0] = report.EpisodeFlow{Source: netip.AddrFrom4([4]byte{10, 0, 0, host}), Destination: netip.AddrFrom4([4]byte{10, 1, 0, 9}), Sum: 5}
			h.whole.NumVictims = 1
		}
		if a.join(b); a.whole.Doubt != c.want || a.whole.OtherPackets != 3 || a.whole.OtherBytes != 300 {
			t.Errorf("%s: %q, want %q; %d packets and %d bytes of flows without a record", name, a.whole.Doubt, c.want, a.whole.OtherPackets, a.whole.OtherBytes)
		}
	}
}

// TestEpisodesOfSeveralSinksAreOne: those of one queue whose times overlap, but for sinks' clocks; what comes twice counts once.
func TestEpisodesOfSeveralSinksAreOne(t *testing.T) {
	for _, c := range []struct {
		name string
		told []*heldEpisode
		want string
	}{
		{"one sink", []*heldEpisode{told(1, 1, 0, 0, 50, 900)}, "0: 0 to 50 ms, 900 bytes, peak 100 1000, 1 sinks, 1 culprits"},
		{"two sinks", []*heldEpisode{told(1, 1, 0, 0, 50, 900), told(2, 7, 0, 20, 80, 100, 50)}, "0: 0 to 80 ms, 1050 bytes, peak 200 1000, 2 sinks, 3 culprits"},
		{"clocks differ", []*heldEpisode{told(1, 1, 0, 0, 50, 900), told(2, 7, 0, 1049, 1080, 100)}, "0: 0 to 1080 ms, 1000 bytes, peak 200 1000, 2 sinks, 2 culprits"},
		{"another time", []*heldEpisode{told(1, 1, 0, 0, 50, 900), told(2, 7, 0, 1051, 1080, 100)}, "0: 0 to 50 ms, 900 bytes, peak 100 1000, 1 sinks, 1 culprits\n0: 1051 to 1080 ms, 100 bytes, peak 200 500, 1 sinks, 1 culprits"},
		{"another queue", []*heldEpisode{told(1, 1, 0, 0, 50, 900), told(2, 7, 1, 0, 50, 100)}, "0: 0 to 50 ms, 900 bytes, peak 100 1000, 1 sinks, 1 culprits\n1: 0 to 50 ms, 100 bytes, peak 200 500, 1 sinks, 1 culprits"},
		{"the same packet", []*heldEpisode{told(1, 1, 0, 0, 50, 900), told(1, 1, 0, 0, 50, 900)}, "0: 0 to 50 ms, 900 bytes, peak 100 1000, 1 sinks, 1 culprits"},
		{"one after the other", []*heldEpisode{told(1, 1, 0, 0, 50, 900), told(1, 2, 0, 51, 60, 100)}, "0: 0 to 50 ms, 900 bytes, peak 100 1000, 1 sinks, 1 culprits\n0: 51 to 60 ms, 100 bytes, peak 100 1000, 1 sinks, 1 culprits"},
		{"a sink brings two together", []*heldEpisode{told(1, 1, 0, 0, 50, 900), told(1, 2, 0, 51, 60, 100), told(2, 1, 0, 0, 60, 5)}, "0: 0 to 60 ms, 1005 bytes, peak 200 1000, 2 sinks, 2 culprits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s episodes
			for _, h := range c.told {
				s.add(h, time.Second)
			}
			if early := s.due(time.Second + episodeHold - 1); early != nil {
				t.Errorf("made early: %s", text(early))
			}
			if got := text(s.due(time.Second + episodeHold)); got != c.want {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
			if again := s.due(time.Second + 2*episodeHold); again != nil {
				t.Errorf("made again: %s", text(again))
			}
			if s.due(time.Second + episodeKept); len(s.held) != 0 {
				t.Errorf("%d are kept", len(s.held))
			}
		})
	}
}

// TestLateSinkMakesTheRecordAnew: with the same id and time, so that a store replaces it.
func TestLateSinkMakesTheRecordAnew(t *testing.T) {
	var s episodes
	first := told(1, 1, 0, 0, 50, 900)
	first.time = 5
	s.add(first, 0)
	s.due(episodeHold)
	s.add(told(2, 9, 0, 10, 60, 100), 20*time.Second)
	again := s.due(20*time.Second + episodeHold)
	if len(again) != 1 || again[0].whole.ID != 1 || again[0].time != 5 || again[0].whole.Bytes != 1000 || again[0].whole.Sinks != 2 {
		t.Errorf("%s", text(again))
	}
}

// TestEpisodesAreBounded: however many come, and however many sinks tell of one.
func TestEpisodesAreBounded(t *testing.T) {
	var s episodes
	gone := 0
	for n := range uint32(2 * mostEpisodes) {
		h := told(1, n, 0, int64(n)*10, int64(n)*10+5, 9)
		if g := s.add(h, 0); g != nil {
			if gone++; g.whole.ID != uint32(gone-1) {
				t.Fatalf("episode %d goes as number %d", g.whole.ID, gone)
			}
		}
	}
	if len(s.held) != mostEpisodes || gone != mostEpisodes {
		t.Errorf("%d are held, %d went", len(s.held), gone)
	}
	s = episodes{}
	for n := range uint64(10 * mostParts) {
		s.add(told(n+1, 1, 0, 0, 5, 9), 0)
	}
	for _, h := range s.held {
		if len(h.parts) > mostParts {
			t.Errorf("%d parts", len(h.parts))
		}
	}
}

// TestJoinedFlowsAreThoseWithMost: a flow that two sinks name is one, and of more than there is room for the largest stay.
func TestJoinedFlowsAreThoseWithMost(t *testing.T) {
	flow := func(n int, sum uint64) report.EpisodeFlow {
		return report.EpisodeFlow{SourcePort: uint16(n), Sum: sum, Over: 1}
	}
	var all [report.MostFlows]report.EpisodeFlow
	n := 0
	for i := range report.MostFlows {
		n = joinFlows(&all, n, []report.EpisodeFlow{flow(i, uint64(10+i))})
	}
	n = joinFlows(&all, n, []report.EpisodeFlow{flow(0, 100), flow(50, 5), flow(51, 50)})
	var ports []uint16
	for _, f := range all[:n] {
		ports = append(ports, f.SourcePort)
	}
	if !slices.Equal(ports, []uint16{0, 51, 7, 6, 5, 4, 3, 2}) || all[0].Sum != 110 || all[0].Over != 2 {
		t.Errorf("%v, the first %+v", ports, all[0])
	}
}

// TestEpisodeRecordComesBackFromTheSpool: an output that is behind gets it as one that is not.
func TestEpisodeRecordComesBackFromTheSpool(t *testing.T) {
	s, err := spool.Open(spool.Options{Directory: filepath.Join(t.TempDir(), "spool"), Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Reader("out")
	h := told(1, 1, 0, 0, 50, 900, 80)
	h.time, h.start, h.key.Node, h.key.HwID, h.key.Version, h.key.Exporter = 1763776800_000000007, 99, 3, 5, 2, netip.MustParseAddr("192.0.2.1")
	h.key.Collector = netip.MustParseAddrPort("192.0.2.2:32766")
	b, m := newBatch(0), newMaker(nil, nil)
	m.note(b, h.key, h.start, 1763776801_000000000, spool.Notice{Type: record.EpisodeType, Time: h.time, Episode: h.whole.Append(nil), Sinks: 3}, 1<<JSON)
	if _, _, _, err := s.Append(b.entries); err != nil {
		t.Fatal(err)
	}
	e, _, ok, err := r.Next(s.End())
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	again := newBatch(0)
	m.entry(again, e, 1<<JSON)
	want, got := string(b.Record(JSON, 0)), string(again.Record(JSON, 0))
	if got != want || !json.Valid([]byte(got)) || !strings.Contains(got, `"type":"episode","id":"3-5-63-1-episode","time":"2025-11-22T02:00:00.000000007Z"`) ||
		!strings.Contains(got, `"sinks":3,"other_packets":0,"other_bytes":0,"culprits":[{"flow":"0:10.0.0.1-10.1.0.1","bytes":900,`) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
