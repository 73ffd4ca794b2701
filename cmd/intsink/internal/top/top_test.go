package top

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/status"
)

// answers are what a sink says, by path.
var answers = map[string]string{
	"/api/v1/status": `{"now":"2026-11-22T10:00:10Z","started":"2026-11-22T10:00:00Z","version":"1.0","node":3,"ready":"ok","mbufs":100,"mbufs_in_use":7,
		"links":[{"name":"edge","kind":"link","directions":[{"direction":"to_host","received":1500000,"forwarded":1499990,"dropped":{"tx_full":10,"malformed":0}}],"int":{"md":1000},"malformed":{},"leaked":2}],
		"ports":[{"name":"up0","device":"net_null0","link_up":false,"rx_packets":1}],
		"collectors":[{"name":"primary","address":"192.0.2.1:8555","reports":30,"packets":9,"packets_sent":8,"dropped":{"refused":1},"shed":{"refresh":12}}],
		"workers":[{"name":"w0","lcore":1,"flows":40,"flow_capacity":1048576,"longest_poll_gap_ns":1500000,"poll_gaps_over":{"100µs":3}}]}`,
	"/api/v1/flows":      `{"items":[{"id":"udp:10.0.0.1:1-10.0.0.2:53","packets":12345,"bytes":678,"latency_ns":46600,"max_hop_latency_ns":null,"nodes":[101,102],"lost":0,"last_events":["loss","congestion"]},{"id":"udp:10.0.0.1:2-10.0.0.2:53","packets":1,"nodes":[101],"last_events":[]}]}`,
	"/api/v1/paths":      `{"items":[{"id":"ddd52bff87dd6237","nodes":[{"node":101},{"node":102}],"flows":38,"packets":9,"max_latency_ns":900,"congested":true}]}`,
	"/api/v1/queues":     `{"items":[{"node":112,"egress":2,"queue":0,"occupancy":9120,"latency_ns":61400,"congested":true,"episodes":1}]}`,
	"/api/v1/links":      `{"items":[]}`,
	"/api/v1/interfaces": `{"items":[{"node":112,"egress":2,"tx_utilization":98,"busy":true},{"node":112,"egress":null,"tx_utilization":3,"unit":"percent","busy":false},{"node":112,"egress":9,"tx_utilization":7,"unit":null,"busy":false}]}`,
	"/api/v1/nodes": `{"items":[{"node":101},{"node":102,"clock":"right","clock_neighbours":2},{"node":103,"clock":"behind","clock_off_ns":5000000,"clock_drift_ns":-200000,"clock_neighbours":4,"clock_since":"2026-11-22T10:00:03Z"},
		{"node":104,"clock":"ahead","clock_off_ns":37000000000,"clock_neighbours":3,"clock_since":"2026-11-22T10:00:03Z"}]}`,
	"/api/v1/problems": `{"items":[{"kind":"link_down","place":[{"what":"port","id":"up0"}],"what":"the link is down","since":"2026-11-22T10:00:03Z"}],"totals":{"open":1}}`,
}

// sink is a server with these answers, and the options that name it.
func sink(t *testing.T) client.Options {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(answers[r.URL.Path]))
	}))
	t.Cleanup(s.Close)
	return client.Options{URL: s.URL}
}

// opened is a server with these answers.
func opened(t *testing.T) *client.Sink {
	o := sink(t)
	s, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestViewsOnce(t *testing.T) {
	for view, want := range map[string][]string{
		"links":      {"link  direction  received/s", "edge  to_host             -", "1.50M", "tx_full 10"},
		"flows":      {"udp:10.0.0.1:1-10.0.0.2:53   46.6us        -  101 > 102     0    12.3k  loss,congestion ", "101           0        1  none since it began ", "references, reported last or first"},
		"paths":      {"101 > 102     38", "900ns", "congested"},
		"queues":     {"112   2           0       9120   61.4us      -  congested"},
		"hops":       {"no link between nodes is known"},
		"collectors": {"primary    192.0.2.1:8555       30       9     8     1  refused 1    12  refresh 12"},
		"interfaces": {"112   2                98  busy", "112   -               3 %", "112   9                 7  unit not known", "tx_utilization_full"},
		"clocks":     {"node  clock    by  a second  neighbours", "\n104   ahead   37s         -           3", "\n103   behind  5ms    -200us           4", "\n102   right                           2", "\n101   -                               0"},
		"workers":    {"w0          1     40     1.05M", "1.50ms", "100us 3"},
	} {
		t.Run(view, func(t *testing.T) {
			var b bytes.Buffer
			if err := Run(context.Background(), &b, &Options{Sink: sink(t), View: view, Sort: "packets", Once: true, Rows: 20, Every: time.Second}); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); !strings.HasPrefix(got, "intsink 1.0  node 3  up 10s  ready  1 worker  40 of 1.05M flows  7 of 100 mbufs in use\n\n") {
				t.Errorf("headline:\n%s", got)
			}
			for _, w := range want {
				if !strings.Contains(b.String(), w) {
					t.Errorf("lacks %q:\n%s", w, b.String())
				}
			}
			if strings.Contains(b.String(), "\x1b") {
				t.Error("has terminal sequences")
			}
		})
	}
}

func TestUnknownNamesAreToldTheKnown(t *testing.T) {
	for name, c := range map[string]struct{ view, sort, want string }{
		"view": {"foo", "packets", "there is no view \"foo\": name one of links, flows, paths, queues, hops, collectors, workers, interfaces, clocks"},
		"sort": {"flows", "colour", "--sort \"colour\": must be one of packets, bytes, last_seen, latency, hop_latency, lost, ecn_marked"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Run(context.Background(), &bytes.Buffer{}, &Options{View: c.view, Sort: c.sort, Once: true})
			if err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestStatusHasAllParts(t *testing.T) {
	var b bytes.Buffer
	o := sink(t)
	if err := Status(context.Background(), &b, &o); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "! port up0: the link is down (since 10:00:03 UTC, 7s)\nintsink 1.0 ") {
		t.Errorf("what is wrong does not come first:\n%s", b.String())
	}
	for _, w := range []string{"edge  to_host", "up0   net_null0  DOWN", "primary", "w0"} {
		if !strings.Contains(b.String(), w) {
			t.Errorf("lacks %q:\n%s", w, b.String())
		}
	}
}

// TestRatesNeedTwoAnswers: what changed between them, per second.
func TestRatesNeedTwoAnswers(t *testing.T) {
	if got := rate(1500, 500, 2); got != "500" {
		t.Errorf("rate %s, want 500", got)
	}
	if got := rate(100, 500, 2); got != "-" {
		t.Errorf("after a restart: %s, want -", got)
	}
}

func TestKeys(t *testing.T) {
	v := &viewer{view: "links", sort: "packets"}
	for _, k := range []struct {
		key        byte
		view, sort string
		quit       bool
	}{{'2', "flows", "packets", false}, {'s', "flows", "bytes", false}, {'\t', "paths", "bytes", false}, {'x', "paths", "bytes", false}, {'7', "workers", "bytes", false}, {'9', "clocks", "bytes", false}, {'\t', "links", "bytes", false}, {'q', "links", "bytes", true}} {
		if quit := v.press(k.key); quit != k.quit || v.view != k.view || v.sort != k.sort {
			t.Errorf("key %q: %v %s %s", k.key, quit, v.view, v.sort)
		}
	}
}

// TestScreenFits: no line is wider than the terminal, and there are as many as it has.
func TestScreenFits(t *testing.T) {
	o := sink(t)
	s, err := open(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	screen := (&viewer{sink: s, view: "collectors", sort: "packets"}).screen(context.Background(), 40, 10)
	for _, l := range strings.Split(screen, "\r\n")[2:] {
		if text := strings.NewReplacer(clearLine, "", clearRest, "", "\x1b[10;1H", "").Replace(l); len([]rune(text)) > 40 {
			t.Errorf("%d characters: %q", len([]rune(text)), text)
		}
	}
	down := &viewer{sink: s, view: "links"}
	answers["/api/v1/status"], answers["saved"] = "not JSON", answers["/api/v1/status"]
	defer func() { answers["/api/v1/status"] = answers["saved"] }()
	if got := down.screen(context.Background(), 200, 10); !strings.Contains(got, "no intsink of this version") || !strings.Contains(got, "It is asked again by itself.") {
		t.Errorf("a broken sink: %q", got)
	}
}

func TestGraphOfPaths(t *testing.T) {
	path := func(flows uint64, congested bool, nodes ...uint32) pathItem {
		p := pathItem{Flows: flows, Congested: congested}
		for _, n := range nodes {
			p.Nodes = append(p.Nodes, struct{ Node uint32 }{n})
		}
		return p
	}
	low, high := uint32(5000), uint32(310000)
	got := graph([]pathItem{path(7, false, 101, 102, 103), path(1, true, 101, 112, 103), path(20, false, 101, 102, 103)},
		[]linkItem{{From: 101, To: 102, Latency: &low}, {From: 101, To: 102, Latency: &high}, {From: 102, To: 103}}, &names.Book{Nodes: map[uint32]names.Node{103: {Name: "leaf 3"}}})
	want := `digraph paths {
  rankdir = LR
  node [shape = circle]
  101
  102
  103 [label = "leaf 3"]
  112
  101 -> 102 [label = "27 flows\n310us", penwidth = 3]
  101 -> 112 [label = "1 flow", penwidth = 1, color = "red"]
  102 -> 103 [label = "27 flows", penwidth = 3]
  112 -> 103 [label = "1 flow", penwidth = 1, color = "red"]
}
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestPathsAsATable(t *testing.T) {
	var b bytes.Buffer
	o := sink(t)
	if err := Paths(context.Background(), &b, &o, false, false); err != nil || !strings.Contains(b.String(), "101 > 102     38") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// TestPathsByNodes: paths that cross the same nodes are one row, the slowest first, unless each is asked for; one that is not
// described stays for itself.
func TestPathsByNodes(t *testing.T) {
	answers["saved"], answers["/api/v1/paths"] = answers["/api/v1/paths"], `{"items":[
		{"id":"01","nodes":[{"node":1},{"node":2}],"flows":3,"packets":10,"max_latency_ns":500},{"id":"w0-02","nodes":null,"flows":1,"packets":1},{"id":"w0-04","nodes":null,"flows":1,"packets":1},
		{"id":"03","nodes":[{"node":1},{"node":2}],"flows":4,"packets":20,"max_latency_ns":900,"congested":true},{"id":"05","nodes":[{"node":1},{"node":3}],"flows":1,"packets":1,"max_latency_ns":1000}]}`
	defer func() { answers["/api/v1/paths"] = answers["saved"] }()
	o := sink(t)
	for each, want := range map[bool]string{
		false: "1 > 3 1 1 1us 1 0h|1 > 2 7 30 900ns congested 2 0h|1 1 - 1 0h|1 1 - 1 0h",
		true:  "1 > 2 3 10 500ns 01 0h|1 1 - w0-02 0h|1 1 - w0-04 0h|1 > 2 4 20 900ns congested 03 0h|1 > 3 1 1 1us 05 0h",
	} {
		var b bytes.Buffer
		if err := Paths(context.Background(), &b, &o, false, each); err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, l := range strings.Split(strings.TrimSpace(b.String()), "\n")[1:] {
			rows = append(rows, regexp.MustCompile(`[0-9]+h`).ReplaceAllString(strings.Join(strings.Fields(l), " "), "0h"))
		}
		if got := strings.Join(rows, "|"); got != want {
			t.Errorf("each %v: %s, want %s", each, got, want)
		}
	}
}

// TestTablesFit: whatever is in them, the tables of a status and of lists take 80 columns, and keep what says what a row is.
func TestTablesFit(t *testing.T) {
	long := strings.Repeat("x", 30)
	s := &status.Status{Ready: "ok", Links: []status.Link{{Name: "a-link-with-a-long-name", Directions: []status.Direction{{Direction: "to_host", Received: 123456789, Forwarded: 123456789,
		Dropped: map[string]uint64{"tx_full": 123456, "malformed": 12345, "no_mbuf": 123}}}, INT: map[string]uint64{"md": 1234567}, Leaked: 12}},
		Collectors: []status.Collector{{Name: "primary", Address: "[2001:db8:1111:2222::1]:32766", Reports: 1234567, Packets: 123456, PacketsSent: 12345, Dropped: map[string]uint64{"refused": 12345, "no_route": 123}, Shed: map[string]uint64{"refresh": 1, "new_flow": 3}}},
		Ports:      []status.Port{{Name: "up0", Device: "0000:81:00.0,representor=[0-3]", LinkDown: "since 10:00 " + long}},
		Workers:    []status.Worker{{Name: "w0", PollGapsOver: map[string]uint64{"100µs": 1, "1ms": 2, "10ms": 3, "100ms": 4}}},
	}
	for _, l := range statusLines(s, s, &problem.Answer{}, 80)[2:] {
		if len([]rune(l)) > 80 {
			t.Errorf("%d: %s", len([]rune(l)), l)
		}
	}
	all := strings.Join(statusLines(s, s, &problem.Answer{}, 80), "\n")
	for _, w := range []string{"a-link-with-a-long-name", "primary", "refused", "up0", "DOWN"} {
		if !strings.Contains(all, w) {
			t.Errorf("lacks %s:\n%s", w, all)
		}
	}
	flows, err := flowsOf(t.Context(), &named{Sink: opened(t)}, "/api/v1/flows?sort=packets")
	if err != nil {
		t.Fatal(err)
	}
	if got := flows.lines(1, 60, "")[0]; got != "flow                        latency  path       packets" {
		t.Errorf("what matters of a flow is not seen in 60 columns: %s", got)
	}
	lossy := strings.NewReplacer(`"lost":0`, `"lost":84`, `}]}`, `}],"totals":{"flows":60}}`)
	defer func(before string) { answers["/api/v1/flows"] = before }(answers["/api/v1/flows"])
	answers["/api/v1/flows"] = lossy.Replace(answers["/api/v1/flows"])
	got, err := (&viewer{sink: &named{Sink: opened(t)}, view: "flows", sort: "packets"}).lines(t.Context(), 2, 60)
	if err != nil || !strings.Contains(got[2], "lost") || !strings.HasPrefix(got[len(got)-1], "2 of 60, by packets; ") {
		t.Errorf("%v: what is lost is not seen in 60 columns, or not that there is more:\n%s", err, strings.Join(got, "\n"))
	}
	narrow := newTable("flow", ">packets", "?>zero", "?>bytes", "path", "?id")
	narrow.add("udp:10.0.0.1:1-10.0.0.2:53", "12345", "0", "1", long, "7")
	if got := strings.Join(narrow.lines(9, 50, ""), "\n"); got != "flow                 packets  path\nudp:10.0.0.1:1-10.…    12345  xxxxxxxxxxxxxxxxxxx…" {
		t.Errorf("%s", got)
	}
}
