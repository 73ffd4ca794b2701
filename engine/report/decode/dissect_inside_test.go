package decode

import (
	"strings"
	"testing"

	"intsink/engine/report"
)

// TestINTInsideOfTunnels: the flow is the tunnel's, the INT that of the packet in it.
func TestINTInsideOfTunnels(t *testing.T) {
	const hops = `"hops":[{"node_id":1,"ingress_interface_id":2,"egress_interface_id":3}]`
	const link = `020000000002 020000000001 0800`
	hop := strings.Replace(oneHop, "20000007", "20000207", 1)
	inner := udp4(t, 5000, `14 05 0035`+hop)
	gre := func(header string) string {
		return `4500 0060 0001 4000 40 2f 0000 0a000003 0a000004` + header
	}
	for _, c := range []struct{ name, packet, want string }{
		{"VXLAN", udp4(t, 4789, `08000000 00000700`+link+inner), `"destination_port":4789}`},
		{"VXLAN-GPE with IP", udp4(t, 4790, `0c000001 00000700`+inner), `"destination_port":4790}`},
		{"VXLAN-GPE without P", udp4(t, 4790, `08000000 00000700`+link+inner), `"destination_port":4790}`},
		{"Geneve with an option", udp4(t, 6081, `01000800 00000700 01020000`+inner), `"destination_port":6081}`},
		{"GRE with a key", gre(`20000800 00000007` + inner), `"protocol":47}`},
		{"Ethernet in GRE", gre(`00006558` + link + inner), `"protocol":47}`},
		{"IP in IP in VXLAN", udp4(t, 4789, `08000000 00000700`+link+`4500 0060 0001 4000 40 04 0000 0a000003 0a000004`+inner), `"destination_port":4789}`},
	} {
		got := dissected(t, plain, report.IPv4, c.packet)
		if !strings.Contains(got, c.want) || !strings.Contains(got, hops) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	got := dissected(t, plain, report.Ethernet, `020000000002 020000000001 8847 00005040 00006140`+inner)
	if !strings.Contains(got, `"ethertype":34887,"source":"10.0.0.1"`) || !strings.Contains(got, hops) {
		t.Errorf("MPLS: %s", got)
	}
	for _, cut := range []string{`08000000`, `08000000 00000700`, `08000000 00000700` + link, `08000000 00000700` + link + `45`} {
		if got := dissected(t, plain, report.IPv4, udp4(t, 4789, cut)); !strings.HasSuffix(got, `"destination_port":4789}null`) {
			t.Errorf("cut: %s", got)
		}
	}
}

// TestOldINTInTunnels: INT 1.0 (sections 4.6.2, 4.6.3, 4.7) and June 2016 (5.3).
func TestOldINTInTunnels(t *testing.T) {
	const (
		one   = `10000207 90000000 00000001 02000003`                   // node id and queue of one hop
		first = `00020802 90000000 00000001 7fffffff 00000004 80000005` // two hops of two words
	)
	for _, c := range []struct {
		name, packet string
		want         []string
	}{
		{"1.0 in VXLAN-GPE, then Destination", udp4(t, 4790, `0c000008 00000700 01000508`+one+`02000203 deadbeef`),
			[]string{`"type":"md","shim_length":5`, `"ver":1`, `"hops":[{"node_id":1,"queue_id":2,"queue_occupancy":3}]`, `"next":{"type":"destination","shim_length":2`, `deadbeef`}},
		{"1.0 in Geneve", udp4(t, 6081, `05006558 00000700 01030104`+one), []string{`"shim_length":4`, `"ver":1`, `"queue_id":2`}},
		{"2016 in VXLAN-GPE", udp4(t, 4790, `0c000005 00000700 01000703`+first),
			[]string{`"ver":0`, `"hop_ml":2,"remaining_hop_count":6`, `[{"node_id":1,"queue_occupancy":null},{"node_id":4,"queue_occupancy":5}]`}},
		{"2016 in Geneve", udp4(t, 6081, `07006558 00000700 01030106`+first), []string{`"ver":0`, `{"node_id":4,"queue_occupancy":5}`}},
		{"MPLS in VXLAN-GPE, which has next protocol 5 today", udp4(t, 4790, `0c000005 00000700 00005140`+first), []string{`"destination_port":4790}null`}},
		{"2016 whose length does not add up", udp4(t, 6081, `07006558 00000700 01030105`+first), []string{`}null`}},
	} {
		got := dissected(t, plain, report.IPv4, c.packet)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %s", c.name, got, want)
			}
		}
	}
}
