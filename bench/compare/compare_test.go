package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeCapture writes a classic pcap file of n frames of the given length.
func writeCapture(t *testing.T, path string, n, length int) {
	t.Helper()
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 0xa1b2c3d4)
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = le.AppendUint32(b, 65535)
	b = le.AppendUint32(b, 1) // LINKTYPE_ETHERNET
	for range n {
		b = append(b, make([]byte, 8)...)
		b = le.AppendUint32(b, uint32(length))
		b = le.AppendUint32(b, uint32(length))
		b = append(b, make([]byte, length)...)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The real testpmd, on the real devices, for a moment.
func TestRunTestpmd(t *testing.T) {
	s := &setup{capture: filepath.Join(t.TempDir(), "in.pcap"), mbufs: 4096, memory: 128, measure: 100 * time.Millisecond}
	s.lcore = s.control + 1
	writeCapture(t, s.capture, 64, 138)
	rate, err := runTestpmd(s, "io")
	if err != nil {
		t.Fatal(err)
	}
	if rate < 1e4 || rate > 1e9 {
		t.Errorf("testpmd forwards %.0f packets per second", rate)
	}
	if _, err := runTestpmd(s, "no-such-mode"); err == nil {
		t.Error("an unknown mode is measured")
	}
}

func TestFrameLengths(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.pcap")
	writeCapture(t, path, 3, 138)
	got, err := frameLengths(path)
	if err != nil || len(got) != 3 || got[2] != 138 {
		t.Errorf("frameLengths = %v, %v", got, err)
	}
	if err := os.Truncate(path, 24+16+138+20); err != nil {
		t.Fatal(err)
	}
	if got, err := frameLengths(path); err == nil {
		t.Errorf("a file that is cut off gives %v", got)
	}
}

const scraped = `intsink_received_packets_total{link="edge",direction="to_host"} 1000
intsink_received_packets_total{link="edge",direction="to_network"} 7
intsink_forwarded_packets_total{link="edge",direction="to_host"} 900
intsink_dropped_packets_total{link="edge",direction="to_host",reason="tx_full"} 60
intsink_dropped_packets_total{link="edge",direction="to_host",reason="malformed"} 40
intsink_int_packets_total{link="edge",type="md"} 1000
intsink_reports_total{collector="sink"} 3
`

func TestParseCounters(t *testing.T) {
	c, err := parseCounters(strings.NewReader(scraped))
	if err != nil {
		t.Fatal(err)
	}
	if want := (counters{received: 1000, forwarded: 900, dropped: 100, int: 1000}); c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	if _, err := parseCounters(strings.NewReader("intsink_int_packets_total{} x\n")); err == nil {
		t.Error("a value that is no number passes")
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		d    counters
		in   input
		ok   bool
	}{
		{"all INT", counters{received: 1000, forwarded: 1000, int: 1000}, input{stripped: true}, true},
		{"dropped, and counted", counters{received: 1000, forwarded: 936, dropped: 64, int: 1000}, input{stripped: true}, true},
		{"lost packets", counters{received: 1000, forwarded: 999, int: 1000}, input{stripped: true}, false},
		{"not stripped", counters{received: 1000, forwarded: 1000}, input{stripped: true}, false},
		{"stripped by mistake", counters{received: 1000, forwarded: 1000, int: 1000}, input{}, false},
		{"malformed", counters{received: 1000, forwarded: 1000, int: 1000, malformed: 1}, input{stripped: true}, false},
		{"standstill", counters{}, input{}, false},
	} {
		if err := c.d.check(c.in); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestPrintTable(t *testing.T) {
	var out strings.Builder
	printTable(&out, []row{
		{name: "testpmd io", rates: []float64{20e6, 10e6, 30e6}},
		{name: inputs[0].title, rates: []float64{10e6, 8e6, 12e6}},
	})
	if want := "ratio to testpmd io, reference input: 0.50 (0.40-0.80)\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("last line is not %q:\n%s", want, out.String())
	}
}
