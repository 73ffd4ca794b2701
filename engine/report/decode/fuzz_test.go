package decode

import (
	"encoding/json"
	"testing"

	"intsink/engine/report/reporttest"
)

func fuzzSeeds(f *testing.F) {
	for _, g := range golden {
		f.Add(reporttest.Wire(f, g.file))
	}
	for _, g := range goldenOld {
		f.Add(reporttest.Wire(f, g.file))
	}
	for _, wire := range []string{
		`1a3f8145 00000009 00000064 000003e8 00010002 00000064 03000044 000007d0 04210000 00000032` + reporttest.IPv4TCPHex,
		`00200005 00000064 000003e8` + etherHex + reporttest.IPv4TCPHex,
		`01800005 00000064 000003e8 00000009 00010002 03210000` + etherHex + reporttest.IPv4TCPHex,
		`02400005 00000064 000003e8 00000009 00010002 03000044 000007d0` + etherHex + reporttest.IPv4TCPHex,
		`20000000 0000007b 04140700 00005453 00000000 00000000` + etherHex + reporttest.IPv4TCPHex,
		reporttest.GroupHex + `04 ff 00 20` + reporttest.INTVXLANHex,
		reporttest.GroupHex + `13 06 02 20 7000 0000 0000 0000 00010002 ffffffff 0000000a 8100`,
		reporttest.GroupHex + `04 12 00 20 4500 0048 0001 4000 40 11 0000 0a000001 0a000002 9c40 12b6 0034 0000 0c000082 00007b00 10 03 00 82 20000207 c0000000 00000000 20 01 80 03 deadbeef 020000000002`,
		reporttest.GroupHex + `04 12 00 20 4500 0048 0001 4000 40 11 0000 0a000001 0a000002 9c40 17c1 0034 0000 04006558 00007b00 0103 01 03 20000207 c0000000 00000000 020000000002 020000000002 0000`,
		reporttest.GroupHex + `04 0b 00 20 4500 002c 0001 4000 40 2f 0000 0a000001 0a000002 b000 88b6 00000001 00000002 00000003 18 00 0800 00000000`,
	} {
		f.Add(reporttest.Hex(f, wire))
	}
}

// No input makes the decoder panic or invent more than it was given.
func FuzzDecode(f *testing.F) {
	fuzzSeeds(f)
	loose := &Decoder{INTPorts: []uint16{5000, 555}, DSCP: 0, DSCPMask: 1, ProbeMarker: 0x0102030405060708}
	strict := &Decoder{INTPorts: []uint16{5000}, Strict: true}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, d := range []*Decoder{loose, strict} {
			m, err := d.Decode(b)
			if m == nil {
				if err == nil {
					t.Fatal("neither a message nor an error")
				}
				continue
			}
			total := 0
			for i := range m.Reports {
				r := &m.Reports[i]
				if err == nil && r.Problem != "" {
					t.Errorf("a problem without an error: %s", r.Problem)
				}
				total += firstWordLen + r.Inner.Length + len(r.DSMetadata)
				for s := r.Inner.INT; s != nil; s = s.Next {
					if len(s.Hops)*4+len(s.Source) > len(b) {
						t.Errorf("%d hops and %d bytes out of %d", len(s.Hops), len(s.Source), len(b))
					}
				}
				if _, err := json.Marshal(r); err != nil {
					t.Fatal(err)
				}
			}
			if total > len(b) {
				t.Errorf("%d bytes of contents out of %d", total, len(b))
			}
		}
	})
}
