package inthdr_test

import (
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// TestGPEThatIsNoVXLAN: G says that the original was VXLAN, which carries Ethernet
// only (INT 2.1, section "INT over VXLAN GPE"). With anything else inside, G is not
// believed: the packet stays VXLAN-GPE.
func TestGPEThatIsNoVXLAN(t *testing.T) {
	for next, inserted := range map[string]bool{"01": false, "02": false, "03": true, "04": false} {
		b := unhex(t, ethernet+"4500 0034 0001 0000 4011 0000"+ipv4Addrs+"8235 12b6 0020 0000"+"0c 000082 000007 00"+"10 03 80"+next+md3)
		var l packet.Layers
		var i inthdr.Info
		if packet.Parse(b, len(b), &l) != packet.OK || everyMarking().Locate(b, &l, &i) != inthdr.Sound {
			t.Fatalf("next protocol %s: not found: %v", next, i.Reason)
		}
		if i.Inserted != inserted || inserted != (i.NPT == 1 && i.Orig == packet.PortVXLAN) {
			t.Errorf("next protocol %s: %+v", next, i)
		}
	}
}
