package conf

import (
	"fmt"
	"strings"
	"testing"
)

// TestForeignProtocols: INT takes no protocol number that GRE and VXLAN-GPE tunnels without INT have; names
// and numbers are those of IANA's registry of EtherTypes and of draft-ietf-nvo3-vxlan-gpe. A
// protocol beside them is free.
func TestForeignProtocols(t *testing.T) {
	gre := map[int]string{
		0x0800: "IPv4", 0x0806: "ARP", 0x2000: "CDP", 0x2001: "NHRP", 0x22eb: "ERSPAN III", 0x6558: "bridged Ethernet",
		0x8100: "VLAN tags", 0x86dd: "IPv6", 0x880b: "PPP", 0x883e: "WCCP", 0x8847: "MPLS", 0x8848: "MPLS", 0x88a8: "VLAN tags",
		0x88be: "ERSPAN II", 0x88e5: "MACsec", 0x894f: "NSH", 0x88b6: "", 0x883d: "",
	}
	gpe := map[int]string{1: "IPv4", 2: "IPv6", 3: "Ethernet", 4: "NSH", 130: "", 5: ""}
	if len(gre) != len(etherTypes)+2 || len(gpe) != len(gpeProtocols)+2 {
		t.Errorf("%d EtherTypes and %d next protocols are refused, of which this test has %d and %d", len(etherTypes), len(gpeProtocols), len(gre)-2, len(gpe)-2)
	}
	refused := func(attribute, want string) {
		t.Helper()
		_, d := parse("test.hcl", []byte(strings.Replace(base, "int { udp_port = 5000 }", "int { "+attribute+" }", 1)+"watch \"all\" {}\n"), fakeMachine())
		var got []string
		for _, x := range d.Errors {
			got = append(got, x.Message)
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: %q, want %q", attribute, got, want)
		}
	}
	for number, name := range gre {
		want := ""
		if name != "" {
			want = fmt.Sprintf("int: gre_protocol = %d: EtherType 0x%04x is that of %s: every ordinary GRE tunnel that carries it would be taken for INT; "+
				"did you mean 34998 (0x88b6), which is free for local use?", number, number, name)
		}
		refused(fmt.Sprint("gre_protocol = ", number), want)
	}
	for number, name := range gpe {
		want := ""
		if name != "" {
			want = fmt.Sprintf("int: vxlan_gpe: next_protocol = %d: next protocol %d is that of %s: every ordinary VXLAN-GPE packet that carries it would be taken for INT; did you mean 130?",
				number, number, name)
		}
		refused(fmt.Sprintf("vxlan_gpe = { next_protocol = %d }", number), want)
	}
}
