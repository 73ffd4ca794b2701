package rules

import (
	"testing"

	"intsink/conf"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
)

const assembleBase = `
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
dpdk { mbufs = 16384 }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "four" { address = "192.0.2.10:8555" }
collector "six" { address = "[2001:db8::10]:8555" }
`

func TestReportRules(t *testing.T) {
	for src, check := range map[string]func(format report.Format, domain, bits uint16, ethernet bool, most int) bool{
		`report {}`: func(f report.Format, domain, bits uint16, ethernet bool, most int) bool {
			return f == report.Format20 && domain == 0 && bits != 0 && !ethernet && most == 0
		},
		`report { version = "1.0" }`: func(f report.Format, domain, bits uint16, ethernet bool, most int) bool {
			return f == report.Format10 && domain == 0 && bits != 0 && ethernet && most == 1
		},
		`report { version = "0.5" }`: func(f report.Format, domain, bits uint16, ethernet bool, most int) bool {
			return f == report.Format05 && domain == 0 && bits != 0 && ethernet && most == 1
		},
		`report { profile = "transparent-security" }`: func(f report.Format, domain, bits uint16, ethernet bool, most int) bool {
			return f == report.Format20 && domain == 0x5453 && bits == 0 && ethernet && most == 1
		},
	} {
		t.Run(src, func(t *testing.T) {
			c, d := conf.Parse("test.hcl", []byte(assembleBase+src))
			if c == nil {
				t.Fatalf("%s: %v %v", src, d.Err(), d.Warnings)
			}
			r := reportRules(c)
			if !check(r.Format, r.Domain, r.MdBits, r.Ethernet, r.MaxReports) {
				t.Errorf("%s: %+v", src, r)
			}
			if r.MdBits&inthdr.BitNodeID != 0 {
				t.Errorf("%s: the node id is in RepMdBits %04x; it stands in the group header only", src, r.MdBits)
			}
		})
	}
}

// TestTransparentSecurityFits: every report of the profile fits 200 bytes, whole frames,
// and leaves less than a word of them, over IPv4 as over IPv6.
func TestTransparentSecurityFits(t *testing.T) {
	for _, metadata := range []string{``, `metadata = ["interfaces"]`, `metadata = ["interfaces", "hop_latency", "ingress_timestamp", "egress_timestamp"]`} {
		t.Run(metadata, func(t *testing.T) {
			c, d := conf.Parse("test.hcl", []byte(assembleBase+"report {\n profile = \"transparent-security\"\n"+metadata+"\n}"))
			if c == nil {
				t.Fatal(d.Err())
			}
			rules := reportRules(c)
			var m report.Metadata
			md := make([]byte, 48)
			r := report.Individual{
				RepType: report.INT, InType: report.Ethernet, DomainSpecificID: rules.Domain, RepMdBits: rules.MdBits,
				Metadata: md[:m.Put(md, rules.MdBits)], Inner: make([]byte, rules.Fragment),
			}
			for i := range c.Collectors {
				frame := report.UDPFrame{Src: c.Collectors[i].Address, Dst: c.Collectors[i].Address}
				var p report.Packet
				p.Open(make([]byte, collectors(c)[i].MaxPayload))
				if !p.AppendCut(&r) {
					t.Fatal("a report does not fit")
				}
				if n := frame.HeaderLen() + len(p.Seal(report.GroupHeader{})); n > 200 || n <= 196 {
					t.Errorf("collector %q: a frame of %d bytes", c.Collectors[i].Name, n)
				}
			}
		})
	}
}
