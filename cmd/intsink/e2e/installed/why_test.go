package installed_test

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/internal/loopback"
)

func TestWhyThatCannotAnswer(t *testing.T) {
	dir := t.TempDir()
	free := loopback.Address(t)
	off := sinktest.Write(t, filepath.Join(dir, "off.hcl"), "http { listen = \"\" }\n"+sinktest.Offline("udp_port = 5000"))
	const flow = "udp:10.0.0.1:1024-10.1.0.1:8000"
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{flow, "--url", "http://" + free}, 1, "cannot be reached at http://" + free},
		{[]string{flow, "--config", off}, 1, "cannot be reached at /run/intsink/api.sock"},
		{[]string{flow, "--config", filepath.Join(dir, "missing.hcl")}, 1, "missing.hcl"},
		{[]string{"udp:10.0.0.1"}, 2, "write it as tcp:"},
		{[]string{flow, "--url", "127.0.0.1"}, 2, "must be such as"},
		{[]string{flow, "--url", "http://x", "--config", off}, 2, "--config and --url: leave all but one out"},
		{[]string{flow, "--format", "xml"}, 2, "must be text or json"},
		{nil, 2, "explains one flow, and 0 are named"},
	} {
		stdout, stderr, code := sinktest.Run(t, append([]string{"why"}, c.args...)...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("why %v: exit code %d, %q, %q; want %d and %q", c.args, code, stdout, stderr, c.code, c.want)
		}
	}
}

// TestWhyOfARunningAppliance: INT arrives on DPDK's pcap driver, the API lists the
// flows, and why explains one.
func TestWhyOfARunningAppliance(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.pcap")
	sinktest.Must(t, "gen", "--out", in, "--flows", "20", "--count", "500")
	text := strings.Replace(sinktest.Config("udp_port = 5000"), "net_null0", "net_pcap0,rx_pcap="+in, 1)
	r := sinktest.Start(t, sinktest.Small+strings.Replace(text, "net_null1", "net_null1,no-rx=1", 1))
	var p struct {
		Items  []flowapi.FlowItem
		Totals flowapi.FlowTotals
	}
	deadline := time.Now().Add(sinktest.Patience)
	for p.Totals.Packets < 500 && time.Now().Before(deadline) {
		if err := json.Unmarshal([]byte(r.Get(t, "/api/v1/flows?limit=5")), &p); err != nil {
			t.Fatal(err)
		}
	}
	if p.Totals.Flows != 20 || p.Totals.Packets != 500 || len(p.Items) != 5 {
		t.Fatalf("%+v", p)
	}
	id := p.Items[0].ID
	stdout := sinktest.Must(t, "why", id, "--url", "http://"+r.HTTP)
	for _, want := range []string{
		id + "\n", `watch       "all", worker w0: new_flow, `, "nodes ", "whole way", "refresh: ", strconv.FormatUint(p.Items[0].Packets, 10) + " packets",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("why has no %q:\n%s", want, stdout)
		}
	}
	var d flowapi.FlowDetail
	if err := json.Unmarshal([]byte(sinktest.Must(t, "why", id, "--format", "json", "--url", "http://"+r.HTTP)), &d); err != nil || d.ID != id || len(d.Hops) == 0 {
		t.Errorf("%v, %+v", err, d)
	}
	_, stderr, code := sinktest.Polled(t, "why", "udp:192.0.2.1:1-192.0.2.2:2", "--url", "http://"+r.HTTP)
	if code != 1 || !strings.Contains(stderr, "is not in the table") {
		t.Errorf("an unknown flow: exit code %d, %q", code, stderr)
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
}
