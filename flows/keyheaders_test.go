package flows

import (
	"encoding/hex"
	"fmt"
	"testing"
)

// TestHeadersOnTheWire: the shortest valid packet of a flow, byte by byte, behind what was there before;
// the checksums of IPv4 were computed by hand (RFC 1071).
func TestHeadersOnTheWire(t *testing.T) {
	for _, c := range []struct {
		name  string
		proto uint8
		want  string
	}{
		{"TCP", 6, "4500002800004000400626ce0a0000010a000002" + "04001f400000000000000000500000000000" + "0000"},
		{"UDP", 17, "4500001c00004000401126cf0a0000010a000002" + "04001f4000080000"},
		{"SCTP", 132, "450000200000400040842658" + "0a0000010a000002" + "04001f400000000000000000"},
		{"OSPF", 89, "4500001400004000405926" + "8f0a0000010a000002"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var k Key
			k.SetIPv4(0x0a000001, 0x0a000002)
			k.SetPorts(4, c.proto, 1024, 8000)
			got := fmt.Sprintf("%x", k.Headers([]byte{0xee}))
			if got != "ee"+c.want {
				t.Errorf("%s\nwant ee%s", got, c.want)
			}
			if b, err := hex.DecodeString(got); err != nil || len(b)-1 > MaxHeaders || int(b[1+3]) != len(b)-1 {
				t.Errorf("%d bytes, Total Length %d", len(b)-1, b[4])
			}
		})
	}
}
