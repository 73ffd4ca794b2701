package dut

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"intsink/bench/internal/traffic"
)

// The real testpmd, on the real devices, for a moment.
func TestTestpmd(t *testing.T) {
	capture := filepath.Join(t.TempDir(), "in.pcap")
	if err := traffic.WriteCapture(capture, traffic.Reference(), 64); err != nil {
		t.Fatal(err)
	}
	s := &Setup{Network: PcapLoop(capture, 1), Host: Discard, Mbufs: 4096, Lcores: []int{1}}
	p, err := StartTestpmd(s, "io")
	if err != nil {
		t.Fatal(err)
	}
	before, err := p.Read()
	if err != nil {
		t.Fatal(err)
	}
	worker, err := Worker(p.PID(), 1)
	if err != nil || worker.TID == p.PID() {
		t.Errorf("worker %+v of process %d: %v", worker, p.PID(), err)
	}
	for after := before; after.Forwarded == before.Forwarded; {
		if after, err = p.Read(); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	s.Unattended = true
	p, err = StartTestpmd(s, "macswap")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("without a prompt: %v", err)
	}
	for _, s.Unattended = range []bool{false, true} {
		if _, err := StartTestpmd(s, "no-such-mode"); err == nil {
			t.Error("an unknown mode is measured")
		}
	}
}

func TestConfiguration(t *testing.T) {
	s := &Setup{Network: "net_null0", Host: "net_null1", Mbufs: 512, Lcores: []int{0, 1}}
	path := filepath.Join(t.TempDir(), "c.hcl")
	for _, task := range []Task{
		{INT: "udp_port = 5000", Watch: true, Sample: 1},
		{INT: "udp_port = 5000", Capacity: 7},
		{INT: "udp_port = 5000", Watch: true, Events: `["new_flow"]`, Limits: "congestion { raise = 5 }", Report: "explain = true", Budget: 9},
	} {
		if err := s.Configuration(path, task, "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"); err != nil {
			t.Fatal(err)
		}
		b, _ := os.ReadFile(path)
		if bytes.Contains(b, []byte("watch")) != task.Watch || !bytes.Contains(b, []byte(`lcores    = "0,1"`)) {
			t.Errorf("%+v gives\n%s", task, b)
		}
		for _, want := range []string{`events = ["new_flow"]`, "events {\n  congestion { raise = 5 }\n}", "report {\n  explain = true\n}", "budget { packets = 9 }"} {
			if bytes.Contains(b, []byte(want)) != (task.Budget != 0) {
				t.Errorf("%+v: %q in\n%s", task, want, b)
			}
		}
	}
}

const scraped = `# TYPE intsink_received_packets_total counter
intsink_received_packets_total{link="edge",direction="to_host"} 1000
intsink_received_packets_total{link="edge",direction="to_network"} 7
intsink_forwarded_packets_total{link="edge",direction="to_host"} 900
intsink_dropped_packets_total{link="edge",direction="to_host",reason="tx_full"} 60
intsink_dropped_packets_total{link="edge",direction="to_host",reason="malformed"} 15
intsink_burst_size_sum{worker="w0"} 175
intsink_burst_size_sum{worker="w1"} 800
intsink_int_packets_total{link="edge",type="md"} 1000
intsink_reports_total{collector="sink"} 3
intsink_long_poll_gaps_total{worker="w0",over="100µs"} 5
intsink_long_poll_gaps_total{worker="w1",over="100µs"} 6
intsink_long_poll_gaps_total{worker="w0",over="1ms"} 1
intsink_longest_poll_gap_seconds{worker="w0"} 0.0015
go_memstats_mallocs_total 400
`

func TestParseCounters(t *testing.T) {
	c, err := parseCounters(strings.NewReader(scraped))
	if err != nil {
		t.Fatal(err)
	}
	want := Counters{Received: 1000, Forwarded: 900, Dropped: 75, Worked: [2]float64{175, 800}, INT: 1000, Mallocs: 400, LongGaps: [3]float64{11, 1}, LongestGap: 0.0015}
	if c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	if d := c.Since(Counters{Received: 1, LongestGap: 9, LongGaps: [3]float64{1}}); d.Received != 999 || d.LongGaps[0] != 10 || d.LongestGap != 0.0015 {
		t.Errorf("%+v", d)
	}
	if _, err := parseCounters(strings.NewReader("intsink_int_packets_total{} x\n")); err == nil {
		t.Error("a value that is no number passes")
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		d      Counters
		allINT bool
		ok     bool
	}{
		{"all INT", Counters{Received: 1000, Forwarded: 1000, INT: 1000}, true, true},
		{"dropped, and counted", Counters{Received: 1000, Forwarded: 936, Dropped: 64, INT: 1000}, true, true},
		{"lost packets", Counters{Received: 1000, Forwarded: 999, INT: 1000}, true, false},
		{"not stripped", Counters{Received: 1000, Forwarded: 1000}, true, false},
		{"stripped by mistake", Counters{Received: 1000, Forwarded: 1000, INT: 1000}, false, false},
		{"malformed", Counters{Received: 1000, Forwarded: 1000, INT: 1000, Malformed: 1}, true, false},
		{"standstill", Counters{}, false, false},
	} {
		if err := c.d.Check(c.allINT); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestParsePerf(t *testing.T) {
	got := parsePerf("1234567,,instructions:u,1000,100.00,,\n<not supported>,,cache-misses,0,100.00,,\n<not counted>,,x,0,0\n\n")
	if len(got) != 1 || got["instructions:u"] != 1234567 {
		t.Errorf("%v", got)
	}
}

func TestThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var th Thread
	if err := th.parseStat("7 (a) b) R 1 2 3 4 5 6 70 8 90 10 300 40 1 2"); err != nil || th != (Thread{MinorFaults: 70, MajorFaults: 90}) {
		t.Errorf("%+v, %v", th, err)
	}
	if err := th.parseStatus("Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n"); err != nil || th.Voluntary != 12 || th.Involuntary != 3 {
		t.Errorf("%+v, %v", th, err)
	}
	if err := th.parseStat("7 (a"); err == nil {
		t.Error("a short line passes")
	}
	if got, err := ReadThread(os.Getpid(), os.Getpid()); err != nil || got.MinorFaults == 0 || got.RunNs == 0 {
		t.Errorf("%+v, %v", got, err)
	}
	CountEvents(os.Getpid(), time.Millisecond) // whatever this machine counts
}
