package engine

import (
	"bytes"
	"slices"
	"testing"

	"intsink/engine/aside/capture"
	"intsink/engine/event"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/wire/inthdr"
)

// TestDroppedLeakIsOneReport: of the events leak and drop.
func TestDroppedLeakIsOneReport(t *testing.T) {
	b := explained(t, func(r *Rules) { r.Leak = tonetwork.DropLeaks })
	b.expect(nil, frames(withINT(t, plain(1), nil), plain(2)), "drop+leak D F drops 1 acl_deny")
	b.balance()
}

// TestCaptureOfChangedLeaks: packets from hosts are captured as they came and as they leave.
func TestCaptureOfChangedLeaks(t *testing.T) {
	leak, marked := withINT(t, plain(1), byDSCP), flowWith(23, nil).Frame(40, 1)
	b := newBed(t, func(r *Rules) {
		r.INT, r.Leak = inthdr.Config{DSCP: []inthdr.DSCP{{Value: 23, Mask: 63}}, Version2: true}, tonetwork.DropLeaks
	})
	c := b.capturing(0, func(f *capture.Filter) { f.Events = 0 })
	b.host.RX = frames(bytes.Clone(leak), bytes.Clone(marked))
	b.Poll()
	texts, packets := b.taken(c)
	if !slices.Equal(texts, []string{"host in " + event.Leak.String() + " drop=leak", "host in", "net out"}) {
		t.Errorf("captured %q", texts)
	}
	if len(packets) != 3 || !bytes.Equal(packets[0], leak) || !bytes.Equal(packets[1], marked) || !bytes.Equal(packets[2], flowWith(0, nil).Frame(40, 1)) {
		t.Errorf("captured %x", packets)
	}
	b.balance()
}
