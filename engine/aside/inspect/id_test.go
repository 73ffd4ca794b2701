package inspect

import (
	"strings"
	"testing"
)

func TestFlowIDs(t *testing.T) {
	for _, id := range []string{
		"tcp:10.0.0.1:1024-10.1.0.1:80",
		"udp:[2001:db8::1]:1024-[2001:db8::2]:53",
		"udp:[::ffff:10.0.0.1]:1-[::1]:2",
		"icmp:10.0.0.1-10.1.0.1",
		"icmpv6:[fe80::1]-[fe80::2]",
		"gre:10.0.0.1-10.1.0.1",
		"sctp:10.0.0.1:0-10.1.0.1:65535",
		"89:10.0.0.1-224.0.0.5",
		"136:10.0.0.1:7-10.1.0.1:8",
		"udp:10.0.0.1:7-10.1.0.1:8@vni0",
		"tcp:[2001:db8::1]:7-[2001:db8::2]:8@vni16777215",
		"icmp:10.0.0.1-10.1.0.1@vni5000",
	} {
		k, err := ParseFlowID(id)
		if err != nil || FlowID(&k) != id {
			t.Errorf("%s comes back as %s, %v", id, FlowID(&k), err)
		}
	}
	if k, err := ParseFlowID("6:10.0.0.1:1024-10.1.0.1:80"); err != nil || FlowID(&k) != "tcp:10.0.0.1:1024-10.1.0.1:80" {
		t.Errorf("a number for a protocol with a name: %v", err)
	}
	for id, want := range map[string]string{
		"":                              "not PROTOCOL:SOURCE-DESTINATION",
		"tcp":                           "not PROTOCOL",
		"tcp:10.0.0.1:1024":             "not PROTOCOL",
		"tcp:10.0.0.1-10.1.0.1":         `"10.0.0.1" has no port`,
		"tcp:[::1]-[::2]":               "has no port",
		"tcp:10.0.0.1:65536-10.1.0.1:1": `"65536" is no port`,
		"tcp:10.0.0.1:-10.1.0.1:1":      `"" is no port`,
		"icmp:10.0.0.1:3-10.1.0.1":      "no IPv4 address",
		"udp:2001:db8::1:1024-[::2]:53": "in brackets",
		"udp:[10.0.0.1]:1-10.1.0.1:1":   "in brackets",
		"udp:[fe80::1%eth0]:1-[::2]:1":  "in brackets",
		"udp:10.0.0.1:1-[::2]:1":        "one end is IPv4",
		"256:10.0.0.1-10.1.0.1":         "protocol",
		"icmp:10.0.0.1-10.1.0.1@vni":    `"" is no network identifier`,
		"icmp:10.0.0.1-10.1.0.1@vni1x":  `"1x" is no network identifier`,

		"icmp:10.0.0.1-10.1.0.1@vni16777216": `"16777216" is no network identifier from 0 to 16777215`,
		strings.Repeat("x", 10000):           "...",
	} {
		if _, err := ParseFlowID(id); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 600 {
			t.Errorf("%.40q: %v, want %q", id, err, want)
		}
	}
}

func FuzzFlowID(f *testing.F) {
	f.Add("tcp:10.0.0.1:1024-10.1.0.1:80")
	f.Add("udp:[2001:db8::1]:1024-[2001:db8::2]:53")
	f.Add("icmp:10.0.0.1-10.1.0.1")
	f.Fuzz(func(t *testing.T, id string) {
		k, err := ParseFlowID(id)
		if err != nil {
			return
		}
		again, err := ParseFlowID(FlowID(&k))
		if err != nil || again != k {
			t.Errorf("%q is %q, which is %v, %v", id, FlowID(&k), again, err)
		}
	})
}
