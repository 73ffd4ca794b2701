package plan

import (
	"strings"
	"testing"

	"intsink/engine/wire/inthdr"
)

func TestFigures(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.001: "<0.01", 0.25: "0.25", 1: "1", 9.999: "10", 12.34: "12.3", 1234: "1234", 9999.4: "9999",
		10000: "10k", 123456: "123k", 9_999_400: "9999k", 2.5e7: "25M", 1e10: "10G", 3e15: "3000T",
	} {
		if got := figure(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}

// TestPlanTellsOfMalformed: packets that are marked and no INT are a line by reason, and in JSON; hops without a layout have another line.
func TestPlanTellsOfMalformed(t *testing.T) {
	var p Result
	p.malformed(nil)
	if p.Packets.Malformed != nil {
		t.Error("nothing is malformed, and JSON says so at length")
	}
	by := [inthdr.NumReasons]uint64{0: 9, inthdr.ReasonVersion: 20, inthdr.ReasonLayout: 3}
	p.malformed(by[:])
	var b strings.Builder
	if err := p.print(&b); err != nil {
		t.Fatal(err)
	}
	if n := p.Packets.Malformed; len(n) != 2 || n["version"] != 20 || n["ifa_layout"] != 3 || strings.Count(b.String(), "malformed: ") != 1 ||
		!strings.Contains(b.String(), "\nmalformed: 20 version: the version of the INT header") {
		t.Errorf("%v\n%s", n, &b)
	}
}
