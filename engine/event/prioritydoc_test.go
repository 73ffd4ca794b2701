package event

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestPrioritiesAreDocumented: the table of priorities in docs/events.md has each event once, at the
// priority that its reports have; congestion twice, at its edges and in between. path_switch goes as
// path_change.
func TestPrioritiesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		name string
		edge bool
	}
	documented := map[key]int{}
	rows := regexp.MustCompile("(?m)^\\| ([0-9]+) \\| (`.*) \\|$").FindAllStringSubmatch(string(page), -1)
	for i, row := range rows {
		n, _ := strconv.Atoi(row[1])
		if n != i+1 {
			t.Errorf("row %d has priority %d", i+1, n)
		}
		for _, e := range regexp.MustCompile("`([a-z_]+)`( that begins or clears)?").FindAllStringSubmatch(row[2], -1) {
			k := key{e[1], e[2] != ""}
			if was, twice := documented[k]; twice {
				t.Errorf("%s stands at %d and %d", k.name, was, n)
			}
			documented[k] = n
		}
	}
	if len(rows) != int(NumPriorities) {
		t.Errorf("%d priorities, want %d", len(rows), NumPriorities)
	}
	wanted := 0
	want := func(e Event, edge bool) {
		wanted++
		k := key{e.String(), edge}
		if got := documented[k]; got != int(e.Set().Priority(edge))+1 {
			t.Errorf("%s (edge %v) is documented at %d, its reports have %d", k.name, edge, got, e.Set().Priority(edge)+1)
		}
	}
	for e := range Event(NumEvents) {
		if e != PathSwitch {
			want(e, false)
		}
	}
	want(Congestion, true)
	if len(documented) != wanted {
		t.Errorf("%d events in the table, want %d", len(documented), wanted)
	}
	if PathSwitch.Set().Priority(false) != PathChange.Set().Priority(false) {
		t.Error("path_switch has another priority than path_change")
	}
}
