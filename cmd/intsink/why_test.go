package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"intsink/engine"
	"intsink/engine/event"
	"intsink/engine/inspect"
	"intsink/flows"
)

// knownFlow is a worker's answer on a flow with something to say of everything.
func knownFlow(t *testing.T) *flowDetail {
	const now = 1_700_000_000_123_456_789
	key, err := inspect.ParseFlowID("udp:10.0.0.1:1024-10.1.0.1:8000")
	if err != nil {
		t.Fatal(err)
	}
	policy := apiPolicy()
	policy.Events |= event.Loss.Set() | event.Drop.Set() | event.HopLimit.Set() | event.MTUExceeded.Set() | event.TxUtilization.Set()
	x := &policy.Thresholds
	x.CongestionLatency, x.LossTimeout, x.LossInterval, x.DropInterval, x.HopLimitRearm, x.MTURearm = 50_000, 200e6, 1e9, 1e9, 10e9, 10e9
	q := &engine.Question{Query: inspect.New(inspect.OneFlow|inspect.Ways, 0), Rules: &engine.Rules{
		Watches: []engine.Watch{{Name: "web"}}, Policies: []event.Policy{policy},
	}}
	q.Now = now
	q.Flow = &inspect.Flow{
		Key: key, Matched: true, Seen: now - 12e6, Packets: 123456, Bytes: 98765432,
		NumHops: 3, EndKnown: true, EndRef: 45_000, EndWindow: 5,
		NumPaths: 2, RefreshDue: now + 1.25e9, LastReport: now - 750e6, LastEvents: event.HopLatency.Set() | event.PathChange.Set(),
		Suppressed: 4, Shed: 2, Drops: 1, Sequence: true, Lost: 3, Reordered: 2, Restarts: 1,
	}
	for i, id := range []uint32{101, 102, 112} {
		q.Flow.Hops[i] = flows.Hop{Node: id << 24, Ref: 5_000 + 10_000*uint32(i)}
	}
	q.Flow.Windows[1] = 1
	q.Flow.Paths[0], q.Flow.Paths[1] = flows.Path{Hash: 1, Seen: flows.Tick(now - 12e6)}, flows.Path{Hash: 2, Seen: flows.Tick(now - 59e9)}
	way := &inspect.Path{ID: 0xabc, Hops: 2}
	way.Way[0], way.Way[1] = inspect.PathHop{Node: 101, Ingress: 1, Egress: 2}, inspect.PathHop{Node: 102, Ingress: 1, Egress: 0xffff}
	return newFlowDetail(0, q, ways{{1: way}})
}

// golden compares with a file of testdata; INTSINK_UPDATE=1 rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("INTSINK_UPDATE") != "" {
		write(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s: %v; want\n%s\ngot\n%s", path, err, want, got)
	}
}

func TestWhyText(t *testing.T) {
	d := knownFlow(t)
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "why.json", string(text)+"\n")
	var back flowDetail // as the command has it
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	golden(t, "why.txt", whyText(&back))
	d.Watch = nil
	golden(t, "why_unwatched.txt", whyText(d))
	d.Matched = false
	golden(t, "why_unmatched.txt", whyText(d))
	*d = flowDetail{Now: d.Now, Matched: true, flowItem: d.flowItem, Thresholds: &thresholdsItem{}}
	d.Watch, d.LastReport, d.LastSeen = some("idle", true), nil, d.Now.Add(-90*time.Second)
	golden(t, "why_nothing.txt", whyText(d))
}

func TestWhyThatCannotAnswer(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	l.Close() // nobody listens there
	off := write(t, filepath.Join(dir, "off.hcl"), "http { listen = \"\" }\n"+config("udp_port = 5000"))
	const flow = "udp:10.0.0.1:1024-10.1.0.1:8000"
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{flow, "--url", "http://" + free}, 1, "cannot be reached at http://" + free},
		{[]string{flow, "--config", off}, 1, `http.listen is ""`},
		{[]string{flow, "--config", filepath.Join(dir, "missing.hcl")}, 1, "missing.hcl"},
		{[]string{"udp:10.0.0.1"}, 2, "write it as tcp:"},
		{[]string{flow, "--url", "127.0.0.1"}, 2, "must be such as"},
		{[]string{flow, "--url", "http://x", "--config", off}, 2, "none of the others can be"},
		{[]string{flow, "--format", "xml"}, 2, "must be text or json"},
		{nil, 2, "explains one flow, and 0 are named"},
	} {
		stdout, stderr, code := intsink(t, append([]string{"why"}, c.args...)...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("why %v: exit code %d, %q, %q; want %d and %q", c.args, code, stdout, stderr, c.code, c.want)
		}
	}
}

func TestWhereASinkListens(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:9465": "http://127.0.0.1:9465", ":9465": "http://127.0.0.1:9465", "0.0.0.0:1": "http://127.0.0.1:1",
		"[::]:9465": "http://[::1]:9465", "[2001:db8::1]:80": "http://[2001:db8::1]:80", "sink.example:80": "http://sink.example:80",
	} {
		if got := listenURL(listen); got != want {
			t.Errorf("%s is reached at %s, want %s", listen, got, want)
		}
	}
}

// TestWhyOfARunningAppliance: INT arrives on DPDK's pcap driver, the API lists the
// flows, and why explains one.
func TestWhyOfARunningAppliance(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.pcap")
	must(t, "gen", "--out", in, "--flows", "20", "--count", "500")
	text := strings.Replace(config("udp_port = 5000"), "net_null0", "net_pcap0,rx_pcap="+in, 1)
	r := startRun(t, small+strings.Replace(text, "net_null1", "net_null1,no-rx=1", 1))
	var p struct {
		Items  []flowItem
		Totals flowTotals
	}
	deadline := time.Now().Add(10 * time.Second)
	for p.Totals.Packets < 500 && time.Now().Before(deadline) {
		if err := json.Unmarshal([]byte(r.get(t, "/api/v1/flows?limit=5")), &p); err != nil {
			t.Fatal(err)
		}
	}
	if p.Totals.Flows != 20 || p.Totals.Packets != 500 || len(p.Items) != 5 {
		t.Fatalf("%+v", p)
	}
	id := p.Items[0].ID
	stdout := must(t, "why", id, "--url", "http://"+r.http)
	for _, want := range []string{
		id + "\n", `watch       "all", worker w0: new_flow, `, "nodes ", "whole way", "refresh: ", strconv.FormatUint(p.Items[0].Packets, 10) + " packets",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("why has no %q:\n%s", want, stdout)
		}
	}
	var d flowDetail
	if err := json.Unmarshal([]byte(must(t, "why", id, "--format", "json", "--url", "http://"+r.http)), &d); err != nil || d.ID != id || len(d.Hops) == 0 {
		t.Errorf("%v, %+v", err, d)
	}
	_, stderr, code := intsink(t, "why", "udp:192.0.2.1:1-192.0.2.2:2", "--url", "http://"+r.http)
	if code != 1 || !strings.Contains(stderr, "is not in the table") {
		t.Errorf("an unknown flow: exit code %d, %q", code, stderr)
	}
	if code := r.stop(t, 10*time.Second); code != 0 {
		t.Errorf("exit code %d: %s", code, r.stderr)
	}
}
