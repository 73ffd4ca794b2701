package decode

import (
	"fmt"
	"strings"
	"testing"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/engine/report"
	"intsink/engine/report/reporttest"
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
	// A next protocol that is configured may name any version: the sink has a list of those that it takes.
	for _, next := range []uint8{0x77, 0x82, 8} {
		d := Configured(inthdr.Config{VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: next}, Version0: true})
		got := dissected(t, d, report.IPv4, udp4(t, 4790, fmt.Sprintf(`0c0000%02x 00000700 01000703`, next)+first))
		if want := `[{"node_id":1,"queue_occupancy":null},{"node_id":4,"queue_occupancy":5}]`; !strings.Contains(got, want) {
			t.Errorf("2016 behind next protocol %d: %s\nwant %s", next, got, want)
		}
	}
}

// TestINTThatTheSinkRefuses: a header of another version than its shim or its place names has a
// problem and no hops; what is not even a header is not shown. The sink takes none of them.
func TestINTThatTheSinkRefuses(t *testing.T) {
	const (
		old  = `10000107 80000000 00000001 00000002`                   // INT 1.0: two node ids
		new  = `20000107 80000000 00000000 00000001 00000002`          // INT 2.1
		gre  = `4500 003c 0001 4000 40 2f 0000 0a000001 0a000002 0000` // protocol, shim, contents
		ver1 = `"problem":"a header with Ver 1 does not belong behind this shim"}`
		ver2 = `"problem":"a header with Ver 2 does not belong behind this shim"}`
	)
	port, protocol := uint16(5000), uint16(defaultGREProtocol)
	sink := inthdr.NewLocator(inthdr.Config{
		UDPPort: &port, GREProtocol: &protocol, VXLANGPE: &defaultVXLANGPE, Geneve: &defaultGeneve,
		Version2: true, Version1: true, Version0: true,
	})
	for _, c := range []struct {
		name, packet, want string
		reason             inthdr.Reason
	}{
		{"1.0 in GRE", gre + `88b6 10040800` + old + `4500000000`, `"ver":1,"discard":false,"source_metadata":"10000107800000000000000100000002",` + ver1, inthdr.ReasonVersion},
		{"shim of 1.0 in GRE", gre + `88b6 01000500` + old + `4500000000`, `"protocol":47}null`, inthdr.ReasonType},
		{"1.0 behind a shim of 2.x in VXLAN-GPE", udp4(t, 4790, `0c000082 00000700 10040003`+old), ver1, inthdr.ReasonVersion},
		{"2.1 behind a shim of 2.x that is named as 1.0", udp4(t, 4790, `0c000008 00000700 10050003`+new), ver2, inthdr.ReasonVersion},
		{"2.1 behind a shim of 1.0", udp4(t, 4790, `0c000008 00000700 01000603`+new), ver2, inthdr.ReasonVersion},
		{"MD, then 1.0 behind a shim of 2.x", udp4(t, 4790, `0c000082 00000700 10050082`+new+`10040003`+old), `"hops":[{"node_id":1},{"node_id":2}],"next":{"type":"md","shim_length":4,"npt":0,"ver":1,"discard":false,"source_metadata":"10000107800000000000000100000002",` + ver1, inthdr.ReasonVersion},
		{"2.1 in a Geneve option without room for its header", udp4(t, 6081, `03006558 00000700 01030102 20000107 80000000`), `}null`, inthdr.ReasonLength},
		{"Destination of no words behind UDP", udp4(t, 5000, `24000035 00000000`), `"destination_port":5000}null`, inthdr.ReasonLength},
		{"Destination of no words in GRE", gre + `88b6 20000800 4500000000`, `"protocol":47}null`, inthdr.ReasonLength},
		{"Destination of no words in VXLAN-GPE", udp4(t, 4790, `0c000082 00000700 20000003 00000000`), `"destination_port":4790}null`, inthdr.ReasonLength},
		{"Destination of no words in Geneve", udp4(t, 6081, `01006558 00000700 01030200`), `"destination_port":6081}null`, inthdr.ReasonLength},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := dissected(t, plain, report.IPv4, c.packet); !strings.Contains(got, c.want) {
				t.Errorf("no %s in\n%s", c.want, got)
			}
			frame := reporttest.Hex(t, `020000000002 020000000001 0800`+c.packet)
			frame = append(frame, make([]byte, max(0, 14+int(frame[17])-len(frame)))...)
			var l packet.Layers
			var i inthdr.Info
			if r := packet.Parse(frame, len(frame), &l); r != packet.OK {
				t.Fatalf("the packet is none: %v", r)
			}
			if r := sink.Locate(frame, &l, &i); r != inthdr.Unsound || i.Reason != c.reason {
				t.Errorf("the sink says %v, %v; want %v", r, i.Reason, c.reason)
			}
		})
	}
}

// TestOldLayouts: where INT 1.0 is as long by its document as by GEANT's programs, the
// configuration tells which it is.
func TestOldLayouts(t *testing.T) {
	packet := strings.Replace(udp4(t, 53, `01000720 10000407 8a000000 00000001 00000064 00000005 00000006`), "4500", "4580", 1)
	config := inthdr.Config{DSCP: &inthdr.DSCP{Value: 32, Mask: 63}, Version1: true}
	for _, c := range []struct {
		geant bool
		want  string
	}{
		{false, `"hops":[{"node_id":1,"ingress_timestamp":100,"level2_ingress_interface_id":5,"level2_egress_interface_id":6}]}`},
		{true, `"hops":[{"node_id":1,"ingress_timestamp":429496729605,"level2_ingress_interface_id":0,"level2_egress_interface_id":6}]}`},
	} {
		config.GEANT = c.geant
		if got := dissected(t, Configured(config), report.IPv4, packet); !strings.Contains(got, c.want) {
			t.Errorf("GEANT %v: no %s in\n%s", c.geant, c.want, got)
		}
	}
}
