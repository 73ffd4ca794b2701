package main

import (
	"encoding/json"
	"slices"
	"testing"

	"intsink/conf"
)

// TestListsOfEvents: the lists of events that rows are measured with say what the rows' titles do,
// also of events that came since: all but sample; the default ones without refresh; the default
// ones and tx_utilization.
func TestListsOfEvents(t *testing.T) {
	c, d := conf.Parse("test.hcl", []byte(`
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
`))
	if c == nil {
		t.Fatal(d.Err())
	}
	without := func(of []string, name string) []string {
		return slices.DeleteFunc(slices.Clone(of), func(s string) bool { return s == name })
	}
	byDefault := c.Watches[0].Events
	for name, l := range map[string]struct {
		list string
		want []string
	}{
		"everyEvent": {everyEvent, without(conf.EventNames(), "sample")}, // which watch.sample turns on
		"noRefresh":  {noRefresh, without(byDefault, "refresh")},
		"withTx":     {withTx, slices.Clone(byDefault)},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			if err := json.Unmarshal([]byte(l.list), &got); err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			slices.Sort(l.want)
			if !slices.Equal(got, l.want) {
				t.Errorf("%q, want %q", got, l.want)
			}
		})
	}
}
