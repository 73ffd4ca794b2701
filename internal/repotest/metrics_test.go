package repotest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/reporting"
	"intsink/engine/wire/inthdr"
	"intsink/exporters"
	"intsink/exporters/collect"
	"intsink/exporters/ipfix/message"
	"intsink/exporters/port"
)

// TestReasonsAreDocumented compares docs/metrics.md with the closed lists that
// the labels are made from.
func TestReasonsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range reasonRows() {
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/metrics.md lacks the line\n%s", row)
		}
	}
}

// TestReasonsOfCollectAreDocumented is the same for docs/collect.md.
func TestReasonsOfCollectAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/collect.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for r := range collect.NumRefusals {
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", r, r.Doc()))
	}
	for r := range collect.NumReasons {
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", r, r.Doc()))
	}
	for f := range collect.NumFates {
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", f, f.Doc()))
	}
	for u := range message.NumUnread {
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", u, u.Doc()))
	}
	for _, row := range rows {
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/collect.md lacks the line\n%s", row)
		}
	}
}

func reasonRows() []string {
	var rows []string
	add := func(label, doc string) { rows = append(rows, fmt.Sprintf("| `%s` | %s |", label, doc)) }
	for r := range burst.NumDropReasons {
		add(r.String(), r.Doc())
	}
	for r := inthdr.ReasonNone + 1; r < inthdr.NumReasons; r++ {
		add(r.String(), r.Doc())
	}
	for r := range reporting.NumDropReasons {
		add(r.String(), r.Doc())
	}
	for r := range exporters.NumDropReasons {
		add(r.String(), r.Doc())
	}
	for k := range port.NumFrameKinds {
		add(k.String(), k.Doc())
	}
	return rows
}
