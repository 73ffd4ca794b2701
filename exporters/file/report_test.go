package file

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/report"
)

// fileHeader is that of a capture file with nanosecond times and Ethernet frames.
const fileHeader = "4d3cb2a1 0200 0400 00000000 00000000 ffff0000 01000000"

// TestBytesOfACapture: a frame and report packets are records with their time in nanoseconds; a report
// packet stands in the frame's headers, without its handoff.
func TestBytesOfACapture(t *testing.T) {
	const at = 1_700_000_000_123_456_789
	const times = "00f15365 15cd5b07 "
	frame := report.UDPFrame{
		SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2},
		Src: netip.MustParseAddrPort("192.0.2.1:4660"), Dst: netip.MustParseAddrPort("198.51.100.2:32766"),
	}
	tagged, six := frame, frame
	tagged.VLAN = 100
	six.Src, six.Dst = netip.MustParseAddrPort("[2001:db8::1]:4660"), netip.MustParseAddrPort("[2001:db8::2]:32766")
	const (
		macs    = "020000000002 020000000001 "
		ipv4    = "0800 4500 0023 0000 4000 40 11 4e93 c0000201 c6336402 "
		ipv6    = "86dd 60000000 000f 11 40 20010db8000000000000000000000001 20010db8000000000000000000000002 "
		udp4    = "1234 7ffe 000f 0b1d "
		udp6    = "1234 7ffe 000f 9bdf "
		payload = "7265706f727421"
	)
	for _, c := range []struct {
		name  string
		write func(*Capture)
		want  string
	}{
		{"a frame", func(c *Capture) { c.Write([]byte{1, 2, 3, 4}, at) }, times + "04000000 04000000 01020304"},
		{"a report packet over IPv4", func(c *Capture) { c.WriteReport(&frame, sealed(t, at, "report!")) },
			times + "31000000 31000000" + macs + ipv4 + udp4 + payload},
		{"in a VLAN", func(c *Capture) { c.WriteReport(&tagged, sealed(t, at, "report!")) },
			times + "35000000 35000000" + macs + "8100 0064" + ipv4 + udp4 + payload},
		{"over IPv6", func(c *Capture) { c.WriteReport(&six, sealed(t, at, "report!")) },
			times + "45000000 45000000" + macs + ipv6 + udp6 + payload},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, err := hex.DecodeString(strings.ReplaceAll(fileHeader+c.want, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			capture := NewCapture(&got)
			c.write(capture)
			if capture.Err() != nil || !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%v, the file is\n%x, want\n%x", capture.Err(), got.Bytes(), want)
			}
		})
	}
}

// sealed is a report packet behind its handoff.
func sealed(t *testing.T, at int64, payload string) *mbuf.Mbuf {
	t.Helper()
	pool, err := mbuf.NewArena(1, 2048)
	if err != nil {
		t.Fatal(err)
	}
	v := mbuf.NewVec()
	if !pool.AllocBulk(v, 1) {
		t.Fatal("no mbuf")
	}
	b := v[0].SetLen(report.HandoffLen + len(payload))
	report.Handoff{Time: at, Entropy: 9, Reports: 1, Waited: 5}.Put(b)
	copy(b[report.HandoffLen:], payload)
	return v[0]
}
