package conf

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"intsink/internal/rounds"
)

func TestDurationIsExact(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0.5us": 500, "0.001us": 1, "1.5ms": 1500 * time.Microsecond, "0.00us": 0, ".5us": 500, "1.us": time.Microsecond,
		"0.000000000050m": 3, "1ms0.5us": time.Millisecond + 500, "0.5µs": 500, "+0.5us": 500,
		"0.0001us": -1, "0.5ns": -1, "1.0000000001s": -1, "0.00000000005s": -1, "0." + strings.Repeat("0", 100) + "us": -1,
	} {
		t.Run(s, func(t *testing.T) {
			c, d := parse("test.hcl", []byte(fmt.Sprintf("%swatch \"all\" {}\ndpdk { idle_sleep = %q }\n", base, s)), fakeMachine())
			switch {
			case (c == nil) != (want < 0):
				t.Errorf("%s: %v", s, d.Err())
			case c != nil && c.DPDK.IdleSleep != want:
				t.Errorf("%s: %v, want %v", s, c.DPDK.IdleSleep, want)
			}
		})
	}
}

// TestLongValues: whatever is too long is not repeated.
func TestLongValues(t *testing.T) {
	long := strings.Repeat("x", rounds.Of(100_000, 10))
	hex := strings.Repeat("1", rounds.Of(100_000, 10))
	for _, src := range []string{
		`collector "a" { address = "LONG" }`,
		`collector "a" { address = "LONG:8555" }`,
		`collector "a" { address = "LONG:99999" }`,
		`collector "a" { address = "fe80::1%LONG" }`,
		`collector "a" { address = "::%LONG:8555" }`,
		`collector "a" { address = "fe80::1%LONG:8555" }`,
		`collector "a" { address = "[::%LONG]:8555" }`,
		`collector "a" { address = LONG }`,
		`collector "a" { source = "LONG" }`,
		`collector "a" { source_port = "LONG" }`,
		`collector "LONG" {}`,
		`collector LONG {}`,
		`port "a" { device = "LONG" }`,
		`port "a" { device = "aa:HEX" }`,
		`port "a" { rx_desc = HEX }`,
		`port "a" { mtu = "HEX" }`,
		`port "a" { LONG = 1 }`,
		`LONG = 1`,
		`LONG {}`,
		"LONG = 1\nLONG = 2",
		`LONG`,
		`int { udp_prot = "LONG" }`,
		`int { probe_marker = "0xHEX" }`,
		`int { versions = ["LONG"] }`,
		`int { malformed = "LONG" }`,
		`int { dscp = { LONG = 1, LONG = 2 } }`,
		`int { dscp = { "LONG" = 1 } }`,
		`dpdk { lcores = "LONG" }`,
		`dpdk { idle_sleep = "HEX" }`,
		`dpdk { idle_sleep = "0.HEXus" }`,
		`dpdk { idle_sleep = "LONG" }`,
		`tap "a" { port = "LONG" }`,
		"link \"a\" {\n network = \"LONG\"\n host = \"LONG\"\n}",
		`http { listen = "LONG" }`,
		`watch "a" { collectors = ["LONG"] }`,
		`watch "a" { events = ["LONG"] }`,
		"watch \"a\" {\n match {\n source = \"LONG\"\n protocol = \"LONG\"\n source_port = \"LONG\"\n }\n}",
		"port \"a\" { device = \"net_null0,LONG\" }\nport \"b\" { device = \"net_null0,LONG\" }\ntap \"t\" { port = \"LONG\" }\ntap \"u\" { port = \"LONG\" }",
	} {
		_, d := parse("test.hcl", []byte(strings.NewReplacer("LONG", long, "HEX", hex).Replace(src)), fakeMachine())
		if len(d.Errors) == 0 {
			t.Errorf("%s: no error", src)
		}
		for _, x := range append(d.Errors, d.Warnings...) {
			if strings.Contains(x.Message, strings.Repeat("x", 81)) || strings.Contains(x.Message, strings.Repeat("1", 81)) || len(x.Message) > 600 {
				t.Errorf("%.60s: %d bytes: %.200s", src, len(x.Message), x.Message)
			}
		}
	}
}

func TestExplainNeedsVersion2(t *testing.T) {
	for src, want := range map[string]string{
		`report { explain = true }`:                                                    "",
		"report {\n explain = true\n version = \"1.0\"\n}":                             "explain = true: only reports of version 2.0",
		"report {\n explain = true\n profile = \"transparent-security\"\n}":            `profile "transparent-security" has no room`,
		"report {\n explain = true\n domain = 7\n}":                                    "",
		"report {\n domain = 7\n version = \"1.0\"\n}":                                 "domain = 7: only reports of version 2.0 name a domain",
		"report {\n domain = 7\n profile = \"transparent-security\"\n}":                `profile "transparent-security" has a domain of its own`,
		"report {\n domain = 21587\n}":                                                 "that is Transparent Security's",
		"report {\n explain = true\n fragment = 1024\n}":                               "at most 1020 bytes",
		"report {\n explain = true\n fragment = 128\n coalesce { max_bytes = 270 }\n}": "one report with this fragment and metadata takes",
	} {
		t.Run(src, func(t *testing.T) {
			_, d := parse("test.hcl", []byte(base+"watch \"all\" {}\n"+src), fakeMachine())
			got := diagText(d.Errors) + diagText(d.Warnings)
			if want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", src, got, want)
			}
		})
	}
}

// TestCPURange: one CPU or a range of them, from 0 to the highest number there can be.
func TestCPURange(t *testing.T) {
	for s, want := range map[string][3]int{
		"0": {0, 0, 1}, "1023": {1023, 1023, 1}, "2-1023": {2, 1023, 1}, " 3 - 4 ": {3, 4, 1}, "5-5": {5, 5, 1},
		"1024": {0, 0, 0}, "2-1024": {0, 0, 0}, "5-4": {0, 0, 0}, "-1": {0, 0, 0}, "3-": {0, 0, 0}, "x": {0, 0, 0}, "": {0, 0, 0},
	} {
		first, last, ok := cpuRange(s)
		if ok != (want[2] == 1) || ok && (first != want[0] || last != want[1]) {
			t.Errorf("%q: %d to %d, %v; want %d", s, first, last, ok, want)
		}
	}
}
