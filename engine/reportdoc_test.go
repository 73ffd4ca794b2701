package engine

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/report"
	"intsink/exporters/record/recordtest"
)

// TestReportsDocument: the example and the tables of docs/reports.md are what the
// sink sends.
func TestReportsDocument(t *testing.T) {
	const path = "../docs/reports.md"
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(src)
	replace := func(what, want string) {
		at := regexp.MustCompile("(?s)" + what).FindStringSubmatchIndex(doc)
		if at == nil {
			t.Fatalf("docs/reports.md has no %s", what)
		}
		if got := doc[at[2]:at[3]]; got != want {
			if !*update {
				t.Errorf("docs/reports.md has\n%s\nit is (go test -update writes it)\n%s", got, want)
			}
			doc = doc[:at[2]] + want + doc[at[3]:]
		}
	}
	bits := ""
	for e, name := range report.EventNames {
		bits += fmt.Sprintf("| %d | `%s` |\n", e, name)
	}
	replace(`\n\| bit \| event \|\n\|---\|---\|\n(.*?)\n`+"A report that", bits)
	reasons := ""
	for r := range burst.NumDropReasons {
		if code := r.Code(); code != 0 {
			reasons += fmt.Sprintf("| `%s` | %d, `%s` |\n", r, code, report.DropReasons[code])
		}
	}
	replace(`stands for what\s+intsink\s+counts:\n\n[^\n]*\n\|---\|---\|\n(.*?)\nPackets of taps`, reasons)
	replace("shows\\s+at\\s+5\\s+ms:\n\n```text\n(.*?)```", explainedExample(t))
	if *update {
		if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReportsNameEveryEvent: the bit of each event in an Explanation has the event's name.
func TestReportsNameEveryEvent(t *testing.T) {
	for e := range event.NumEvents {
		if int(e) >= len(report.EventNames) || report.EventNames[e] != e.String() {
			t.Errorf("report.EventNames[%d] is not %q", e, e)
		}
	}
	if len(report.EventNames) != int(event.NumEvents) {
		t.Errorf("%d names for %d events", len(report.EventNames), event.NumEvents)
	}
}

// explainedExample is the first TLV of the first hop_latency report of the timeline,
// each field with what decode makes of it.
func explainedExample(t *testing.T) string {
	b := newBed(t, func(r *Rules) {
		r.Watches[0].Policy.Events, r.Watches[0].Policy.Thresholds = event.HopLatency.Set(), documentedThresholds()
		r.Report.Explain = true
	})
	for _, us := range []uint32{20, 28, 15, 60, 20} {
		if got := b.send(withINT(t, plain(1), func(_ *intgen.Source, h []intgen.Hop) { h[1].LatencyNs = us * 1000 })); len(got) != 0 {
			t.Fatalf("%d us are reported", us)
		}
	}
	b.network.RX = [][]byte{withINT(t, plain(1), func(_ *intgen.Source, h []intgen.Hop) { h[1].LatencyNs = 60_000 })}
	b.Poll()
	b.step(2e6)
	payload := b.sealed()[0]
	r := &recordtest.Decode(t, payload).Reports[0]
	if r.InType != report.TLV || strings.Join(r.Names(), " ") != "hop_latency" {
		t.Fatalf("InType %d, events %v", r.InType, r.Names())
	}
	tlv := payload[8+12+4*int(r.Raw.MDLength):]
	out := ""
	field := func(n int, text string) {
		hex := ""
		for i, x := range tlv[:n] {
			if i > 0 && i%4 == 0 {
				hex += " "
			}
			hex += fmt.Sprintf("%02x", x)
		}
		out += fmt.Sprintf("%-20s%s\n", hex, text)
		tlv = tlv[n:]
	}
	field(4, fmt.Sprintf("type %d, %d words, template 0x%04x", tlv[0]>>4, tlv[1], report.ExplainTemplate))
	field(4, "events "+strings.Join(r.Names(), ", "))
	field(4, fmt.Sprintf("suppressed %d", r.Suppressed))
	field(8, fmt.Sprintf("packets %d", r.FlowPackets))
	field(8, fmt.Sprintf("bytes %d", r.FlowBytes))
	field(4, fmt.Sprintf("lost %d", r.Lost))
	field(4, fmt.Sprintf("drops %d", r.Drops))
	field(4, fmt.Sprintf("node_id %d", r.EventNode))
	field(4, fmt.Sprintf("reference %d", r.Reference))
	field(4, fmt.Sprintf("value %d", r.EventValue))
	b.balance()
	return out
}
