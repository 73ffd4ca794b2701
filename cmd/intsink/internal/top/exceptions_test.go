package top

import (
	"slices"
	"testing"
	"time"

	"intsink/cmd/intsink/internal/status"
)

// TestExceptions: each state that should not last has a line of its own; a usual state has none.
func TestExceptions(t *testing.T) {
	at := time.Unix(1000, 0).UTC()
	for _, c := range []struct {
		name string
		s    status.Status
		want []string
	}{
		{"an old sink", status.Status{}, nil},
		{"all is well", status.Status{Mode: &status.Mode{Mode: "full", Switch: &status.Switch{State: "inline"}}, Config: &status.Config{}}, nil},
		{"strip", status.Status{Mode: &status.Mode{Mode: "strip", Since: at, Why: "asked for"}}, []string{"mode strip since 1970-01-01T00:16:40Z: asked for"}},
		{"a stuck worker", status.Status{Mode: &status.Mode{Mode: "full", Switch: &status.Switch{State: "bypass", Why: "worker w0"}}}, []string{"bypass switch: bypass: worker w0"}},
		{"a command that fails", status.Status{Mode: &status.Mode{Mode: "full", Switch: &status.Switch{State: "inline", Error: "no card"}}}, []string{"bypass switch: inline; its command failed: no card"}},
		{"a trial", status.Status{Config: &status.Config{Trial: &status.Trial{Until: at, BackTo: 7}}}, []string{"the configuration is on trial: generation 7 comes back at 1970-01-01T00:16:40Z unless intsink confirm comes"}},
		{"a trial that went back", status.Status{Config: &status.Config{Generation: 9, LastTrial: &status.EndedTrial{Generation: 8, BackTo: 7, Result: "timeout", Why: "nobody confirmed it in time", Ended: at}}},
			[]string{"generation 8 was on trial, and generation 7's configuration came back at 1970-01-01T00:16:40Z: nobody confirmed it in time"}},
		{"a trial that was confirmed", status.Status{Config: &status.Config{Generation: 8, LastTrial: &status.EndedTrial{Generation: 8, BackTo: 7, Result: "confirmed", Why: "confirmed by unix uid 0 pid 7", Ended: at}}},
			[]string{"generation 8 was on trial until 1970-01-01T00:16:40Z: confirmed by unix uid 0 pid 7"}},
		{"what INT lacks", status.Status{Lacking: map[string]uint64{"queue": 0, "timestamps": 1, "hop_latency": 12}},
			[]string{"the INT of 12 new flows did not carry hop latency, which a watched event needs: intsink why FLOW says which",
				"the INT of 1 new flow did not carry timestamps, which a watched event needs: intsink why FLOW says which"}},
		{"IFA without a layout, and with values that cannot be", status.Status{
			Links:     []status.Link{{Name: "a"}, {Name: "b", NoLayout: map[string]uint64{"gns 3": 1, "gns 15, lns 2": 20}}},
			OddValues: []status.OddValues{{Node: 7, Hops: 12, Share: 0.123}, {Node: 8, Hops: 1, Share: 0.004}, {Node: 1}, {Node: 2}, {Node: 3}, {Node: 4}},
		}, []string{
			"link b: IFA: no layout of hops is known of gns 15, lns 2 (20 packets), gns 3 (1 packet): a block hop in int.ifa says how they are laid out",
			"IFA: residence times that cannot be, of node 7 (12 hops, 12% of packets), 8 (1 hop, 0.4% of packets), 1 (0 hops, 0% of packets), 2 (0 hops, 0% of packets), 3 (0 hops, 0% of packets) and 1 more: not known, and no event",
		}},
		{"a reload after it", status.Status{Config: &status.Config{Generation: 9, LastTrial: &status.EndedTrial{Generation: 8, Result: "confirmed", Ended: at}}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := exceptions(&c.s); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
