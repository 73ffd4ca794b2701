package packets_test

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/mitigation"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
)

// answered sends n datagrams to an echo, and tells how many come back. For those that need not
// come back it does not wait long.
func answered(t *testing.T, address string, n, want int) (back int) {
	t.Helper()
	c, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b, wait := make([]byte, 100), 100*time.Millisecond
	if want > 0 {
		wait = sinktest.Patience
	}
	for range n {
		c.Write(b[:50])
		c.SetReadDeadline(time.Now().Add(wait))
		if k, err := c.Read(b); err == nil && k == 50 {
			back++
		}
	}
	return back
}

// TestMitigation over kernel interfaces: a flow is dropped while its rule lasts, other traffic
// is not touched, reloads leave rules alone, rules end by themselves and by command; counters
// add up.
func TestMitigation(t *testing.T) {
	if !netns.In(t) {
		return
	}
	there, _ := sinktest.TwoHosts(t, 1500)
	there(func() { sinktest.Echo(t, "[::]:7"); sinktest.Echo(t, "[::]:9") })
	text, socket := sinktest.AddSocket(t, sinktest.Mitigated(sinktest.KernelPorts("kernel:s-net", "kernel:s-host")))
	r := sinktest.Start(t, text)
	r.Ready(t)
	const attacked, other = "10.66.0.2:9", "10.66.0.2:7"
	if n := answered(t, attacked, 3, 3); n != 3 {
		t.Fatalf("%d of 3 datagrams come back without a rule", n)
	}
	command := func(want int, args ...string) string {
		t.Helper()
		stdout, stderr, code := sinktest.Run(t, append(append([]string{"mitigate"}, args...), "--socket", socket)...)
		if code != want {
			t.Fatalf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
		}
		return stdout + stderr
	}
	command(0, "add", "--destination", "10.66.0.2", "--protocol", "udp", "--destination-port", "9", "--ttl", "5m", "--comment", "test")
	r.Adopted(t)
	if n := answered(t, attacked, 10, 0); n != 0 {
		t.Errorf("%d of 10 datagrams come back while the rule lasts", n)
	}
	for _, n := range []int{1, 1472, 4000} {
		datagram(t, other, n)
	}
	sinktest.Bulk(t, other, 4<<20)
	sinktest.Bulk(t, attacked, 1<<20) // TCP
	if stdout, stderr, code := sinktest.Run(t, "reload", "--socket", socket); code != 0 {
		t.Fatal(stdout, stderr)
	}
	if n := answered(t, attacked, 2, 0); n != 0 {
		t.Errorf("%d of 2 datagrams come back after a reload", n)
	}
	const drops = `intsink_mitigation_packets_total{link="edge",action="drop",result="dropped"}`
	r.Wait(t, "12 drops", func(p observetest.Exposition) bool { return p.Series[drops] >= 12 }) // nobody waited for the last ones
	var l mitigation.List
	if err := json.Unmarshal([]byte(command(0, "list", "--format", "json")), &l); err != nil || len(l.Rules) != 1 || l.Rules[0].DroppedPackets != 12 || l.Rules[0].Packets != 12 {
		t.Errorf("%v %+v", err, l)
	}
	p := r.Balanced(t)
	for name, want := range map[string]float64{
		`intsink_dropped_packets_total{link="edge",direction="to_host",reason="mitigation"}`: 12,
		drops: 12,
		`intsink_mitigation_packets_total{link="edge",action="drop",result="passed"}`:           0,
		`intsink_mitigation_rules{action="drop"}`:                                               1,
		`intsink_api_writes_total{result="ok"}`:                                                 2,
		`intsink_dropped_packets_total{link="edge",direction="to_network",reason="mitigation"}`: 0,
	} {
		if got := p.Series[name]; got != want {
			t.Errorf("%s %v, want %v", name, got, want)
		}
	}
	if s := command(0, "remove", "1"); !strings.Contains(s, "12") {
		t.Errorf("remove: %s", s)
	}
	r.Adopted(t)
	if n := answered(t, attacked, 3, 3); n != 3 {
		t.Errorf("%d of 3 datagrams come back once the rule is removed", n)
	}
	if s := command(1, "remove", "1"); !strings.Contains(s, `there is no rule "1": it has ended, or was removed; intsink mitigate list`) {
		t.Errorf("%s", s)
	}
	for flags, want := range map[string]string{
		"--ttl 5m": "name at least one of --source, ", "--ttl 5m --source 10.0.0.1/8": `--source "10.0.0.1/8": has bits behind`, "--protocol udp": "--ttl is missing",
		"--ttl 5m --protocol udp --action fly": `--action "fly": must be "count"`, "--ttl 5m --protocol udp --rate 9k": `--rate 9000: goes with the action "police" alone`,
	} {
		if s := command(2, append([]string{"add"}, strings.Fields(flags)...)...); !strings.Contains(s, want) {
			t.Errorf("%s: %s", flags, s)
		}
	}
	command(0, "add", "--destination", "10.66.0.2", "--destination-port", "9", "--ttl", "1s")
	r.Wait(t, "the rule's end", func(p observetest.Exposition) bool { return p.Series[`intsink_mitigation_rules{action="drop"}`] == 0 })
	if n := answered(t, attacked, 3, 3); n != 3 {
		t.Errorf("%d of 3 datagrams come back once the rule has ended", n)
	}
	if _, stderr, code := sinktest.Run(t, "mitigate", "add", "--protocol", "udp", "--ttl", "5m", "--url", "http://"+r.HTTP); code != 1 || !strings.Contains(stderr, "unix socket") {
		t.Errorf("over TCP: exit code %d, %s", code, stderr)
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 || !strings.Contains(r.Stderr.String(), "all mbufs returned") {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
	if !strings.Contains(r.Stderr.String(), fmt.Sprintf("rule 1: drop %s", `{\"destination\":[\"10.66.0.2\"]`)) {
		t.Errorf("the log lacks the rule:\n%s", r.Stderr)
	}
}
