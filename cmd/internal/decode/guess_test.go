package decode

import (
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"intsink/engine/wire/report/reporttest"
)

// marked is a report packet whose packet has INT marked by DSCP 23.
func marked(t *testing.T) []byte {
	b := reporttest.Packet(t, 7, 1)
	at := len(b) - 48
	b[at+1], b[at+22], b[at+23], b[at+28], b[at+31] = 23<<2, 0, 53, 0x10, 0 // DSCP 23, port 53, NPT 0
	return b
}

// TestDecodeSaysWhereINTMayBe: INT that no flag names is told, with the flag; not where flags say where INT is, and not of
// packets that have none.
func TestDecodeSaysWhereINTMayBe(t *testing.T) {
	const hint = "1 reported packet may carry INT that is marked by DSCP 23: --int-dscp 23, or --config with the sink's file, shows it\n"
	hidden := writeFrames(t, layers.LinkTypeEthernet, false, frame(marked(t), collectorAddr))
	for _, c := range []struct {
		name, path string
		args       []string
		want       bool
	}{
		{"hidden", hidden, nil, true},
		{"named", hidden, []string{"--int-dscp", "23"}, false},
		{"behind the port", writeFrames(t, layers.LinkTypeEthernet, false, frame(reporttest.Packet(t, 7, 1), collectorAddr)), nil, false},
		{"none", writeFrames(t, layers.LinkTypeEthernet, false, frame(reporttest.Wire(t, "baseline"), collectorAddr)), nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, stderr, err := runDecode(t, append(c.args, c.path)...)
			if err != nil || strings.HasSuffix(stderr, hint) != c.want {
				t.Errorf("%v %s", err, stderr)
			}
		})
	}
}

// TestDecodeReservedValues: they are ignored where every datagram counts as a report; among other traffic they make a packet none,
// and the line says how to see it.
func TestDecodeReservedValues(t *testing.T) {
	b := reporttest.Packet(t, 7, 1)
	b[11] |= 0x0f
	path := writeFrames(t, layers.LinkTypeEthernet, false, frame(b, collectorAddr))
	for _, format := range []string{"json", "text", "record"} {
		stdout, _, err := runDecode(t, "--format", format, "--port", "8555", path)
		if err != nil || !strings.Contains(stdout, "42") || strings.Contains(stdout, "malformed") || strings.Contains(stdout, "PROBLEM") || format == "json" != strings.Contains(stdout, `"reserved":true`) {
			t.Errorf("%s: %v %s", format, err, stdout)
		}
		_, stderr, err := runDecode(t, "--format", format, path)
		if wantCode(t, err, 1); !strings.Contains(stderr, "reserved values in the report header; with --port they are ignored") {
			t.Errorf("%s: %s", format, stderr)
		}
	}
}

// TestOneFlowInAllFormats: of a packet in a tunnel whose INT is its own, every format names the same flow, and the tunnel beside it.
func TestOneFlowInAllFormats(t *testing.T) {
	var wire []byte
	wire = append(wire, reporttest.Hex(t, reporttest.GroupHex+`04 1a 00 20
		4500 0068 0001 4000 40 11 0000 0a000008 0a000009 9c40 12b5 0054 0000 08000000 00000700 020000000002 020000000001 0800
		4500 0036 0001 4000 40 11 0000 0a000001 0a000002 9c40 1388 0022 0000 14 04 0035 20000107 80000000 00000000 0000002a 010203040506`)...)
	path := writeFrames(t, layers.LinkTypeEthernet, false, frame(wire, collectorAddr))
	for format, tunnel := range map[string]string{"json": `"outer":{"flow":"udp:10.0.0.8:40000-10.0.0.9:4789"`, "record": `"vni":7,"outer":{"flow":"udp:10.0.0.8:40000-10.0.0.9:4789"`, "text": "outer udp:10.0.0.8:40000-10.0.0.9:4789\n"} {
		stdout, stderr, err := runDecode(t, "--format", format, path)
		if err != nil || !strings.Contains(stdout, "udp:10.0.0.1:40000-10.0.0.2:53") || !strings.Contains(stdout, tunnel) {
			t.Errorf("%s: %v %s\n%s", format, err, stderr, stdout)
		}
	}
}
