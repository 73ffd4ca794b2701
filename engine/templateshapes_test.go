package engine

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/report"

	"intsink/internal/rounds"
)

// formats are the ways in which a report is written.
var formats = map[string]func(*Rules){
	"2.0":           func(*Rules) {},
	"2.0 explained": func(r *Rules) { r.Report.Explain = true },
	"1.0":           func(r *Rules) { r.Report.Format = report.Format10 },
	"1.0 Ethernet":  func(r *Rules) { r.Report.Format, r.Report.Ethernet = report.Format10, true },
	"0.5":           func(r *Rules) { r.Report.Format = report.Format05 },
	"0.5 Ethernet":  func(r *Rules) { r.Report.Format, r.Report.Ethernet = report.Format05, true },
	"Transparent Security": func(r *Rules) {
		r.Report.Domain, r.Report.MdBits, r.Report.Ethernet, r.Report.MaxReports, r.Report.Fragment = 0x5453, 0, true, 1, 136
		r.setPayloads(158, 158, 158)
	},
}

// budgets are none, and such as allow some, most and hardly any of the reports.
var budgets = map[string]func(*Rules){
	"":                  func(*Rules) {},
	", budgets":         func(r *Rules) { r.setBudgets(packetRate(5000), bitRate(20e6), packetRate(20)) },
	", all but refused": func(r *Rules) { r.setBudgets(packetRate(200), packetRate(50), bitRate(500e3)) },
}

func packetRate(perSecond uint64) reporting.Budget {
	return reporting.Budget{Packets: perSecond, Bits: perSecond * 7001, Burst: 20e6, Headers: 42}
}

func bitRate(perSecond uint64) reporting.Budget {
	return reporting.Budget{Bits: perSecond, Burst: 20e6, Headers: 62}
}

// TestTemplatesOfAllShapes: whatever headers packets have, in one buffer or more, reports are as
// without templates, byte for byte and packet by packet, and so are all counters and flows.
func TestTemplatesOfAllShapes(t *testing.T) {
	var nested [][]byte
	for _, n := range nestings() {
		_, marked := n.Frames(t, func(s *intgen.Source, _ []intgen.Hop) { s.Bitmap = 0xf000 })
		nested = append(nested, marked)
	}
	for name, format := range formats {
		for within, budget := range budgets {
			t.Run(name+within, func(t *testing.T) {
				sameWithoutTemplates(t, nested, func(r *Rules) { format(r); budget(r) })
			})
		}
	}
}

func sameWithoutTemplates(t *testing.T, nested [][]byte, change func(*Rules)) {
	by, whole, r := newLinksBed(t, false, change), newLinksBed(t, false, change), rand.New(rand.NewPCG(11, 12))
	for range rounds.Of(60, 6) {
		x := newRound(t, r, false, nested)
		by.live(&x)
		whole.reporter.WithoutTemplates()
		whole.live(&x)
		by.sameAs(t, whole)
		if got, want := by.flows(), whole.flows(); !reflect.DeepEqual(got, want) {
			t.Fatalf("flows %+v\nwithout templates %+v", got, want)
		}
	}
	for e, least := range map[event.Event]int{event.Sample: 1000, event.NewFlow: 50, event.Congestion: 100, event.PathChange: 50} {
		if n := by.counters.Reported[e] + by.counters.Shed[e]; n < uint64(rounds.Of(least, 6)) {
			t.Errorf("only %d reports of %v", n, e)
		}
	}
	for _, b := range []*linksBed{by, whole} {
		b.Close()
		b.handedOver()
		b.balance()
	}
}
