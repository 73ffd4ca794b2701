package decode

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"intsink/engine/report"
	"intsink/engine/report/reporttest"
)

// TestWhatNPT2Restores: where the UDP or TCP header behind INT does not fit the packet, INT ends
// elsewhere, and no hop is shown.
func TestWhatNPT2Restores(t *testing.T) {
	const (
		stack = `2000 0107 8000 0000 0000 0000 000000ea 00000064` // header, two hops of a node id
		udp   = `000d0000 000c0000 deadbeef`
		tcp   = `9c400050 00000001 00000002 50180200 12340000`
		hops  = `"hops":[{"node_id":234},{"node_id":100}]`
		see   = `; see shim_length and --config"`
	)
	inclusive := &Decoder{INTPorts: []uint16{5000}, ShimInclusive: true}
	whole := func(shim, behind string) string { return udp4(t, 5000, shim+stack+behind) }
	cut := func(packet string, bytes int) string { // and padded to whole words, as reports are
		b := fmt.Sprintf("%x", reporttest.Hex(t, packet)[:bytes])
		return b + strings.Repeat("00", (4-bytes%4)%4)
	}
	outer := func(packet string, length int) string { // with that UDP length in front of INT
		b := reporttest.Hex(t, packet)
		binary.BigEndian.PutUint16(b[24:], uint16(length))
		return fmt.Sprintf("%x", b)
	}
	const options = `9c400050 00000001 00000002 80180200 12340000 0101080a 00000001 00000002`
	const behind = 28 + 4 + 12 + 8 // where the packet goes on behind INT
	for _, c := range []struct {
		name, packet string
		d            *Decoder
		want         string
	}{
		{"UDP", whole(`18 05 0011`, udp), plain, hops + `}`},
		{"UDP, Length counts the shim", whole(`18 06 0011`, udp), inclusive, hops + `}`},
		{"UDP, Length counts the shim, and nobody says so", whole(`18 06 0011`, udp), plain,
			`"source_metadata":"000000ea00000064000d0000","problem":"the UDP length behind INT is 57005, and the packet has 8 bytes there` + see},
		{"UDP, Length does not count the shim as it is said to", whole(`18 05 0011`, udp), inclusive,
			`"source_metadata":"000000ea","problem":"the UDP length behind INT is 13, and the packet has 16 bytes there` + see},
		{"UDP without a payload, Length counts the shim", whole(`18 06 0011`, `000d0000 00080000`), plain, `"problem":"the packet has 4 bytes behind INT, too few for the header that NPT 2 restores` + see},
		{"TCP", whole(`18 05 0006`, tcp), plain, hops + `}`},
		{"TCP without a payload, Length counts the shim", whole(`18 06 0006`, tcp), plain, `"problem":"the packet has 16 bytes behind INT, too few`},
		{"TCP, Length counts the shim", whole(`18 06 0006`, tcp+`00000000`), plain, `"problem":"the TCP header behind INT has 4 bytes by its Data Offset, and the packet has 20 there` + see},
		{"TCP, Length does not count the shim as it is said to", whole(`18 05 0006`, tcp), inclusive, `"problem":"the TCP header behind INT has 0 bytes by its Data Offset, and the packet has 24 there` + see},
		{"another protocol", whole(`18 06 0001`, udp), plain, `"hops":[{"node_id":234},{"node_id":100},{"node_id":851968}]}`},
		{"UDP, cut behind its length", cut(whole(`18 05 0011`, udp), behind+6), plain, hops + `}`},
		{"wrong, cut behind the UDP length", cut(whole(`18 06 0011`, udp), behind+4+6), plain, `"problem":"the UDP length behind INT is 57005, and the packet has 8 bytes there`},
		{"wrong, cut in the UDP length", cut(whole(`18 06 0011`, `000d0000 00100000 deadbeef cafebabe`), behind+4+5), plain, `"node_id":851968}]}`},
		{"UDP, cut in its length, which padding follows", cut(whole(`18 05 0011`, `000d0000 0108`+strings.Repeat("00", 258)), behind+5), plain, hops + `}`},
		{"TCP, cut in front of Data Offset, which padding follows", cut(whole(`18 05 0006`, `9c400050 00000001 00000002 50180200 12340000`), behind+11), plain, hops + `}`},
		{"INT behind INT, then UDP", udp4(t, 5000, `14 05 1388`+stack+`18 05 0011`+stack+udp), plain, `"npt":2,"ver":2,"discard":false,"max_hop_count_exceeded":false,"mtu_exceeded":false,"hop_ml":1,"remaining_hop_count":7,"instruction_bitmap":32768,"domain_specific_id":0,"ds_instruction":0,"ds_flags":0,` + hops + `}}`},
		{"a first fragment, whose UDP length is that of all", strings.Replace(whole(`18 05 0011`, `000d0000 07d00000 deadbeef`), `0001 4000`, `0001 2000`, 1), plain, hops + `}`},
		{"TCP behind a UDP length without its options", outer(whole(`18 05 0006`, options), 8+24+20), plain, hops + `}`},
		{"UDP behind a UDP length without INT", outer(whole(`18 05 0011`, udp), 8+12), plain, hops + `}`},
		{"UDP behind a UDP length of 0", outer(whole(`18 05 0011`, udp), 0), plain, hops + `}`},
		{"a first fragment over IPv6", fmt.Sprintf(ip6Hex, 0, 52, 44) + `1100 0001 00000001 9c40 1388 002c 0000 18 05 0011` + stack + `000d0000 07d00000 deadbeef`, plain, hops + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := report.IPv4
			if c.packet[0] == '6' {
				in = report.IPv6
			}
			got := dissected(t, c.d, in, c.packet)
			if !strings.Contains(got, c.want) || strings.Contains(got, "problem") && strings.Contains(got, "hops") {
				t.Errorf("no %s in\n%s", c.want, got)
			}
		})
	}
}
