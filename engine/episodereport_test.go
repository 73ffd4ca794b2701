package engine

import (
	"slices"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/report"
	"intsink/exporters/record"
	"intsink/exporters/record/recordtest"
)

// congested returns two workers of one sink, which have queue 3 of node 102 congested for 40 packets each: half of them
// of flow 0, the others of flows of their own. The reports are those of the packet that ends the episode, of flow last.
func congested(t *testing.T, last int, change func(*Rules)) (end []recordtest.Report) {
	beds := sharedBeds(t, func(r *Rules) {
		r.Watches[0].Policy.Events = event.Congestion.Set()
		change(r)
	})
	take := func(w, flow int, occupancy uint32) (all []recordtest.Report) {
		b := beds[w]
		b.now += 1e6
		beds[1-w].now = b.now
		b.network.RX = queue(t, flow, occupancy, 10)
		b.Poll()
		for _, payload := range b.sealed() {
			all = append(all, recordtest.Decode(t, payload).Reports...)
		}
		return all
	}
	for n := range 20 { // known
		take(n%2, n, 0)
	}
	for n := range 80 {
		flow := 0
		if n%4 > 1 {
			flow = n % 20
		}
		for _, r := range take(n%2, flow, 9000+uint32(n)) {
			if len(r.Episodes) > 0 {
				t.Errorf("packet %d: an episode that has not ended", n)
			}
		}
	}
	return take(0, last, 100)
}

// TestReportThatEndsAnEpisodeSumsItUp: of the packets of all workers. Where there is less room, fewer flows are named; where
// there is none, or no explanation, the report comes without it.
func TestReportThatEndsAnEpisodeSumsItUp(t *testing.T) {
	for _, c := range []struct {
		name              string
		change            func(*Rules)
		culprits, episode int
		last              int
	}{
		{"explained", func(*Rules) {}, report.MostFlows, 1, 2},
		{"little room", func(r *Rules) { r.setPayloads(400) }, 2, 1, 2},
		{"no room", func(r *Rules) { r.setPayloads(200) }, 0, 0, 2},
		{"all INT", func(r *Rules) { r.Report.WholeINT = true }, report.MostFlows, 1, 2},
		{"not explained", func(r *Rules) { r.Report.Explain = false }, 0, 0, 2},
		{"ended by a flow's first packet", func(r *Rules) { r.Watches[0].Policy.Events |= event.NewFlow.Set() }, report.MostFlows, 1, 77},
		{"no fragment", func(r *Rules) { r.Report.Fragment = 0 }, report.MostFlows, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			end := congested(t, c.last, c.change)
			if len(end) != 1 || len(end[0].Episodes) != c.episode {
				t.Fatalf("%d reports, %+v", len(end), end)
			}
			want := "congestion"
			if c.last == 77 {
				want = "new_flow"
			}
			if names := end[0].Names(); c.episode == 1 && !slices.Equal(names, []string{want}) || c.name != "no fragment" && !end[0].Has(record.KnownPorts) {
				t.Errorf("%q of packet %+v", names, end[0])
			}
			if c.episode == 0 {
				return
			}
			e := &end[0].Episodes[0]
			if e.ID != 1 || e.Node != 102 || e.Queue != 3 || e.Packets != 81 || e.End-e.Begin != 80e6 ||
				e.Peak != (report.EpisodePeak{At: e.Begin, Latency: 10_000, Occupancy: 9079, Window: 10e6, Packets: 10, Bytes: 620}) {
				t.Errorf("%+v", e)
			}
			if e.NumCulprits != c.culprits {
				t.Fatalf("%d culprits", e.NumCulprits)
			}
			if most := e.Culprits[0]; most.Source.String() != "10.0.0.0" || most.Sum != 40*62 || most.Over != 0 {
				t.Errorf("%+v of %d bytes", most, e.Bytes)
			}
		})
	}
}
