package livecapture

import (
	"math"
	"slices"
	"strings"
	"testing"

	"intsink/conf"
	"intsink/engine/aside/capture"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
)

// inForce returns a configuration with a link, a tap and two watches.
func inForce() *conf.Config {
	return &conf.Config{
		Links:   []conf.Link{{Name: "edge", Network: "n", Host: "h"}},
		Taps:    []conf.Tap{{Name: "side", Port: "t"}},
		Watches: []conf.Watch{{Name: "web"}, {Name: "all"}},
	}
}

// compiled decodes and compiles a request.
func compiled(body string) (*Request, capture.Filter, error) {
	q, err := decode(strings.NewReader(body))
	if err != nil {
		return nil, capture.Filter{}, err
	}
	f, err := q.compile(inForce())
	return q, f, err
}

// TestRequests compares the filters that requests compile to.
func TestRequests(t *testing.T) {
	all := func(f capture.Filter) bool { return f.Stages == capture.Both && f.SnapLength == capture.MaxSnap }
	for _, c := range []struct {
		name, body string
		is         func(q *Request, f capture.Filter) bool
	}{
		{"nothing", "", func(q *Request, f capture.Filter) bool {
			return all(f) && q.Seconds == 60 && q.Rate == 10000 && f.Match == nil && !f.AsksReason()
		}},
		{"an empty object", "{}", func(_ *Request, f capture.Filter) bool { return all(f) }},
		{"a stage", `{"stage": "in"}`, func(_ *Request, f capture.Filter) bool { return f.Stages == capture.In }},
		{"a tap", `{"links": ["side"]}`, func(_ *Request, f capture.Filter) bool { return slices.Equal(f.Links, []int{1}) }},
		{"events", `{"events": ["leak", "new_flow"]}`, func(_ *Request, f capture.Filter) bool { return f.Events == event.Leak.Set()|event.NewFlow.Set() }},
		{"drops", `{"events": ["drop"]}`, func(_ *Request, f capture.Filter) bool {
			return f.Events == 0 && f.Dropped>>burst.DropTxFull&1 != 0 && f.Dropped>>burst.DropTap&1 == 0 && f.Dropped>>burst.NumDropReasons == 0
		}},
		{"reasons", `{"reasons": ["malformed", "too_deep", "segmented"]}`, func(_ *Request, f capture.Filter) bool {
			return f.Dropped == 1<<burst.DropMalformed && f.Malformed == 1<<inthdr.ReasonTooDeep|1<<inthdr.ReasonSegmented
		}},
		{"a match", `{"match": {"source": "10.0.0.0/8", "protocol": ["udp", 6]}, "both_ways": true}`, func(_ *Request, f capture.Filter) bool { return f.Match != nil }},
		{"bounds", `{"count": 5, "seconds": 0.5, "rate": 7, "snap_length": 64}`, func(q *Request, f capture.Filter) bool {
			return q.Count == 5 && q.Seconds == 0.5 && q.Rate == 7 && f.SnapLength == 64
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, f, err := compiled(c.body)
			if err != nil || !c.is(q, f) {
				t.Errorf("%+v %+v %v", q, f, err)
			}
		})
	}
}

// TestBadRequests: the error of each says what is wrong and what would be right.
func TestBadRequests(t *testing.T) {
	for body, want := range map[string]string{
		"x":                                        "the body must be JSON, such as",
		`{} {}`:                                    "more follows it",
		`{"watch": "web"}`:                         `unknown field "watch"`,
		`{"stage": "middle"}`:                      `stage = "middle": must be "in"`,
		`{"watches": ["wbe"]}`:                     `there is no watch "wbe": must be web, all`,
		`{"links": ["x"]}`:                         `there is no link or tap "x": must be edge, side`,
		`{"events": ["flow_end"]}`:                 `no packet shows "flow_end"`,
		`{"events": ["drop", "leak"]}`:             `"drop" goes alone`,
		`{"reasons": ["none"]}`:                    `reasons = "none": must be tx_full`,
		`{"count": -1}`:                            "count = -1",
		`{"seconds": 4000}`:                        "at most 3600",
		`{"rate": 0.5}`:                            "rate = 0.5",
		`{"rate": 1e9}`:                            "1 to 1000000",
		`{"snap_length": 10}`:                      "14 to 65535",
		`{"both_ways": true}`:                      "both_ways: there is nothing to take",
		`{"match": {"source": "10.0.0.1/8"}}`:      "has bits behind the prefix",
		`{"match": {"destination_port": "70000"}}`: "must be a port",
	} {
		t.Run(body, func(t *testing.T) {
			if _, _, err := compiled(body); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// FuzzRequest: any body gives an error, or a filter within its bounds.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		"", "{}", `{"stage": "in", "links": ["edge"], "watches": ["web"], "events": ["drop"], "count": 5, "seconds": 1.5, "rate": 10, "snap_length": 64}`,
		`{"match": {"source": ["10.0.0.0/8", "2001:db8::/32"], "protocol": 6, "source_port": "1-2", "source_mac": "02:00:5e:00:53:01"}, "both_ways": true, "reasons": ["npt"]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		q, c, err := compiled(body)
		if err != nil {
			if err.Error() == "" || len(err.Error()) > 4000+3*len(body) {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if q.Count < 0 || !(q.Seconds > 0 && q.Seconds <= maxSeconds) || !(q.Rate >= 1 && q.Rate <= maxRate) || math.IsNaN(q.Rate) ||
			c.SnapLength < 14 || c.SnapLength > capture.MaxSnap || c.Stages == 0 || c.Stages > capture.Both || len(c.Links) > len(body) {
			t.Errorf("%+v %+v", q, c)
		}
	})
}
