package client

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"intsink/cmd/intsink/internal/flowapi"
)

// golden compares with a file of testdata; INTSINK_UPDATE=1 rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("INTSINK_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s: %v; want\n%s\ngot\n%s", path, err, want, got)
	}
}

func TestWhyText(t *testing.T) {
	text, err := os.ReadFile("../flowapi/testdata/flow.json")
	if err != nil {
		t.Fatal(err)
	}
	d := &flowapi.FlowDetail{}
	if err := json.Unmarshal(text, d); err != nil {
		t.Fatal(err)
	}
	d.Paths[0].IPHops, d.Paths[0].WithoutINT, d.Paths[1].IPHops, d.Paths[1].WithoutINT = new(5), new(2), new(3), new(0)
	golden(t, "why.txt", whyText(d, nil))
	d.Lacks = []flowapi.LackItem{{Value: "hop_latency", Events: []string{"hop_latency", "end_to_end"}}}
	golden(t, "why_lacks.txt", whyText(d, nil))
	d.Watch = nil
	golden(t, "why_unwatched.txt", whyText(d, nil))
	d.Matched = false
	golden(t, "why_unmatched.txt", whyText(d, nil))
	*d = flowapi.FlowDetail{Now: d.Now, Matched: true, FlowItem: d.FlowItem, Thresholds: &flowapi.ThresholdsItem{}}
	d.Watch, d.LastReport, d.LastSeen = new("idle"), nil, d.Now.Add(-90*time.Second)
	golden(t, "why_nothing.txt", whyText(d, nil))
}
