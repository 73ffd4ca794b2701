package record

import (
	"fmt"
	"testing"

	"intsink/engine/aside/inspect"
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report/reporttest"
)

// TestPathsAreTheSinks: records give a path the same id as the sink's /api/v1/paths, for hops
// of any layout.
func TestPathsAreTheSinks(t *testing.T) {
	port := uint16(5000)
	for _, c := range []struct{ name, words, bitmap, hops string }{
		{"level 1", "03", "e000", "00000002 00030004 00000001 00000001 00010002 00000001"},
		{"level 2", "05", "e200", "00000002 00030004 00000001 0000000b 0000000c 00000001 00010002 00000001 0000000d 0000000e"},
		{"one hop", "02", "c000", "ffff0001 fffe0000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := len(reporttest.Hex(t, c.hops)) / 4
			ip4 := udp4(t, 5000, fmt.Sprintf("14 %02x 0035", n+3)+md(c.words, c.bitmap, c.hops))
			frame := reporttest.Hex(t, etherHex+ip4)
			var l packet.Layers
			var i inthdr.Info
			var o inthdr.Outers
			p := inthdr.NewLocator(inthdr.Config{UDPPort: &port, Version2: true})
			if packet.Parse(frame, len(frame), &l) != packet.OK || p.Find(frame, &l, &i, &o) != inthdr.Sound {
				t.Fatal("the sink finds no INT")
			}
			var want inspect.Path
			want.Describe(&event.Observation{Frame: frame, Info: &i, Layout: p.Layout(&i)})
			var got uint64
			d := NewDecoder(Options{})
			if _, err := d.Records(reporttest.Hex(t, ip(t, ip4)), &testOrigin, func(r *Record) { got = r.Path }); err != nil || got != want.ID {
				t.Errorf("%v: path %016x, the sink's is %016x", err, got, want.ID)
			}
		})
	}
}
