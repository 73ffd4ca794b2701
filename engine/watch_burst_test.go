package engine

import (
	"testing"

	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
)

// TestWatchesWithinABurst: packets of one flow and one burst belong to different watches or to
// none. Each is reported as its own watch says.
func TestWatchesWithinABurst(t *testing.T) {
	tagged := func(tag uint16) []byte {
		f := intgen.Flow{
			SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Src: address(10, 0, 0, 1), Dst: address(10, 1, 0, 1),
			Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000, VLANs: []uint16{tag},
		}
		return withINT(t, f.Frame(20, 1), nil)
	}
	for _, last := range []uint16{6, 7} { // of no watch; of one that reports to nobody
		b := newBed(t, func(r *Rules) {
			r.Watches = []watch.Watch{{Name: "five", Match: watch.Match{VLAN: []watch.PortRange{{First: 5, Last: 5}}}, Policy: r.Watches[0].Policy, Collectors: 1}, {Name: "seven", Match: watch.Match{VLAN: []watch.PortRange{{First: 7, Last: 7}}}, Policy: r.Watches[0].Policy}}
			r.Report.MaxReports = 1
		})
		b.network.RX = [][]byte{tagged(5), tagged(last)}
		b.Poll()
		if n := len(b.sealed()); n != 1 {
			t.Errorf("VLAN %d last: %d reports, want the new flow's", last, n)
		}
		b.balance()
	}
}
