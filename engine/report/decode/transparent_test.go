package decode

import (
	"strings"
	"testing"

	"intsink/engine/report/reporttest"
)

// Reports as the code of Transparent Security writes them: 20 bytes of group header and
// main contents, a word, a frame. The Length of a shim counts the shim.
const (
	tsHeader = `20000040 000000ea 04 0a 08 00 0000 5453 0000 0000 00000000`
	tsEther4 = `020000000002 020000000001 0800`
	tsEther6 = `020000000002 020000000001 86dd`
	tsINT    = `2000 0109 8000 5453 8000 4000 000000ea 0000007b 000000000101 0000` // two hops, the device
	tsAddr6  = `20010db8000000000000000000000001 20010db8000000000000000000000002`
)

func TestTransparentSecurityCode(t *testing.T) {
	const (
		ipv4  = `4500 00ff 0001 4000 3d 11 0000 c0a80101 c0a80202`
		two   = `"hops":[{"node_id":234},{"node_id":123}],"source_metadata":"0000000001010000"`
		shim8 = `"shim_length":8`
	)
	for _, c := range []struct {
		name, wire string
		want       []string
	}{
		{"UDP over IPv4", tsHeader + tsEther4 + `4500 0044 0001 4000 3d 11 0000 c0a80101 c0a80202 0000 022b 0030 0000 18 08 00 11` + tsINT + `1a18 16a0 0008 0000`,
			[]string{`"protocol":17,"source_port":6680,"destination_port":5792`, two, shim8, `"ds_metadata":"00000000"`}},
		{"UDP over IPv4 whose length does not tell, cut", tsHeader + tsEther4 + ipv4 + `0000 022b 00eb 0000 18 08 00 11` + tsINT + `1a18 16a0`,
			[]string{`"source_port":6680,"destination_port":5792`, two, shim8}},
		{"TCP over IPv4", tsHeader + tsEther4 + ipv4 + `0000 022b 00eb 0000 18 08 00 06` + tsINT + `1a18 16a0 00000000 00000000 5002 2000 0000 0000`,
			[]string{`"protocol":6,"source_port":6680,"destination_port":5792,"tcp_flags":2`, two}},
		{"UDP over IPv6", strings.Replace(tsHeader, "04 0a", "05 0f", 1) + tsEther6 + `60000000 0030 11 40` + tsAddr6 + `0000 022b 0030 0000 18 08 00 11` + tsINT + `1a18 16a0 0008 0000`,
			[]string{`"source":"2001:db8::1"`, `"protocol":17,"source_port":6680,"destination_port":5792`, two}},
		{"TCP over IPv6, whose header says TCP", strings.Replace(tsHeader, "04 0a", "05 0f", 1) + tsEther6 + `60000000 003c 06 40` + tsAddr6 + `0000 022b 003c 0000 18 08 00 06` + tsINT + `1a18 16a0 00000000 00000000 5002 2000 0000 0000`,
			[]string{`"protocol":6,"source_port":6680,"destination_port":5792,"tcp_flags":2`, two}},
		{"bits that ask for nothing that is there", strings.Replace(tsHeader, "0000 5453 0000 0000", "55aa 5453 55aa aa55", 1) + tsEther4 + ipv4 + `0000 022b 00eb 0000 18 08 00 11` + tsINT + `1a18 16a0 00c3 0000`,
			[]string{`"rep_md_bits":21930`, two}},
		{"a Length as in INT 2.1, which the UDP header behind INT fits", tsHeader + tsEther4 +
			`4500 0044 0001 4000 3d 11 0000 c0a80101 c0a80202 0000 022b 0030 0000 18 07 00 11` + tsINT + `1a18 16a0 0008 0000`,
			[]string{`"source_port":6680,"destination_port":5792`, two, `"shim_length":7`}},
		{"three hops", tsHeader + tsEther4 + ipv4 + `0000 022b 00eb 0000 18 09 00 06 2000 0108 8000 5453 8000 4000 0000007b 000001c8 00000315 a61af6b1647d0000 9c40 0050`,
			[]string{`"protocol":6,"source_port":40000,"destination_port":80`, `"hops":[{"node_id":123},{"node_id":456},{"node_id":789}],"source_metadata":"a61af6b1647d0000"`}},
		{"no INT in the frame", tsHeader + tsEther4 + `4500 001c 0001 4000 3d 11 0000 c0a80101 c0a80202 1a18 16a0 0008 0000`,
			[]string{`"source_port":6680,"destination_port":5792}}`}},
		{"drop report, with the text behind it", `20000000 0000007b 02 09 07 00 0001 5453 0000 0000 000f0000 60d36e49 00000005 6b00dbfc6026a3526b00dbfc6026a352 1bbe 0f5d 0017 0000 7470732064726f70207265706f7274`,
			[]string{`"in_type":2`, `"metadata":{"queue_id":0,"drop_reason":15}`, `"inner":{"type":"ds_extension","length":47`,
				`"transparent_security":{"time":"2021-06-23T17:24:25Z","drop_count":5,"drop_key":"6b00dbfc6026a3526b00dbfc6026a352"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, inclusive := range []bool{false, true} { // Length is corrected, whatever other sources write
				d := &Decoder{INTPorts: []uint16{555}, Strict: true, ShimInclusive: inclusive}
				m := contains(t, d, c.wire, c.want...)
				if len(m.Reports) != 1 || m.Reports[0].Problem != "" || strings.Contains(reporttest.ToJSON(t, m.Reports[0]), "drop_reason_name") {
					t.Errorf("inclusive %v: %s", inclusive, reporttest.ToJSON(t, m))
				}
			}
		})
	}
}

// Individual reports of the same domain that are by the specification.
func TestNotTransparentSecurityCode(t *testing.T) {
	for _, c := range []struct{ name, wire, want string }{
		{"RepType 1", `20000000 0000007b 13 1b 00 20 0000 5453 0000 0000` + tsEther4 + reporttest.IPv4TCPHex, `"inner":{"type":"ethernet"`},
		{"IPv4 with that in its identification", reporttest.GroupHex + `04 0a 00 00 4500 5453 0000 0000 40 06 0000 0a000001 0a000002` + reporttest.TCPHex, `"inner":{"type":"ipv4","length":40`},
		{"extension data of another layout", reporttest.GroupHex + `02 0a 00 00 0002 5453 0000 0000` + strings.Repeat("00", 32), `"inner":{"type":"ds_extension","length":40`},
		{"too short", reporttest.GroupHex + `02 07 00 00 0001 5453 0000 0000` + strings.Repeat("00", 20), `"inner":{"type":"ds_extension","length":28`},
		{"not IP", reporttest.GroupHex + `03 0a 00 00 0000 5453 0000 0000 00000000 020000000002 020000000001 0806` + strings.Repeat("00", 14), `"inner":{"type":"ethernet","length":40`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := plain.Decode(reporttest.Hex(t, c.wire))
			if got := reporttest.ToJSON(t, m.Reports[0]); !strings.Contains(got, c.want) || strings.Contains(got, "transparent") {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
