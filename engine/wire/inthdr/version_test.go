package inthdr_test

import (
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// TestDestinationOfOtherVersions: a Destination header has no version of its own. That of its shim must be configured
// for the place where it stands, or packets that begin like one would lose bytes: NTP of stratum 3, PFCP.
func TestDestinationOfOtherVersions(t *testing.T) {
	const (
		toDNS  = "8235 0035 0023 0000"
		shim2  = "23 03 01ec 00000000 00000000 00000000 0000000000000000000000" // type 2, three words
		shim1  = "02 00 03 00 00000000 00000000 00000000 0000000000000000000000"
		marked = "455c 0037 0001 0000 4011 0000" + ipv4Addrs + toDNS
		onPort = "4500 0037 0001 0000 4011 0000" + ipv4Addrs + "8235 1388 0023 0000"
	)
	port := uint16(intPort)
	config := func(versions string) inthdr.Config {
		c := inthdr.Config{UDPPort: &port, DSCP: []inthdr.DSCP{{Value: 0x17, Mask: 0x3f}}}
		for _, v := range versions {
			c.Version2, c.Version1, c.Version0 = c.Version2 || v == '2', c.Version1 || v == '1', c.Version0 || v == '0'
		}
		return c
	}
	for _, c := range []struct {
		name, versions, packet string
		want                   inthdr.Result
	}{
		{"2.x by DSCP", "2", marked + shim2, inthdr.Sound},
		{"2.x by DSCP, 1.0 alone is taken", "1", marked + shim2, inthdr.Unsound},
		{"2.x by DSCP, June 2016 alone is taken", "0", marked + shim2, inthdr.Unsound},
		{"2.x on the port, 1.0 alone is taken", "1", onPort + "24" + shim2[2:], inthdr.Unsound},
		{"1.0 by DSCP", "1", marked + shim1, inthdr.Sound},
		{"1.0 by DSCP, June 2016 and 2.x are taken", "20", marked + shim1, inthdr.Unsound},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := unhex(t, ethernet+c.packet)
			var l packet.Layers
			var i inthdr.Info
			var o inthdr.Outers
			if s := packet.Parse(b, len(b), &l); s != packet.OK {
				t.Fatalf("parse: %v", s)
			}
			reason := inthdr.ReasonNone
			if c.want == inthdr.Unsound {
				reason = inthdr.ReasonVersion
			}
			if r := inthdr.NewLocator(config(c.versions)).Find(b, &l, &i, &o); r != c.want || i.Reason != reason {
				t.Errorf("%v, %v; want %v, %v", r, i.Reason, c.want, reason)
			}
		})
	}
}
