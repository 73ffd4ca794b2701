package record

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"testing"

	"intsink/engine/wire/report/reporttest"
)

// FuzzRecords: no packet makes the decoder panic, changes the records of the next packet, or
// gives a record whose JSON or protobuf is not valid.
func FuzzRecords(f *testing.F) {
	for _, file := range []string{"baseline", "domain_specific", "int_tcp", "int_vxlan", "transparent_security", "1.0_int", "1.0_every_bit", "0.5_drop", "0.5_switch_local", "0.5_ip"} {
		f.Add(reporttest.Wire(f, file))
	}
	for _, packet := range []string{
		`20000040 000000ea 04 0a 08 00 0000 5453 0000 0000 00000000` + etherHex + `4500 0044 0001 4000 3d 11 0000 c0a80101 c0a80202 0000 022b 0030 0000 18 08 00 11
			2000 0109 8000 5453 8000 4000 000000ea 0000007b 000000000101 0000 1a18 16a0 0008 0000`,
		`20000000 0000007b 02 09 07 00 0001 5453 0000 0000 000f0000 60d36e49 00000005 6b00dbfc6026a3526b00dbfc6026a352`,
		ip(f, udp4(f, 4789, `08000000 00000700`+etherHex+udp4(f, 5000, `14 06 0035`+md("03", "e000", "00000001 00010002 00000064")))),
		ip(f, udp4(f, 6081, `07 00 6558 00000700 0103 01 06`+md("03", "e000", "00000001 00010002 00000064")+etherHex)),
		ip(f, udp4(f, 4790, `0c000005 00000700 01000903 00030902 d000 0000 00000001 00000002 80000044 00000003 00000004 8000007f`)),
		ip(f, `4500 0058 0001 4000 40 2f 0000 0a000008 0a000009 0000 88b6 18 06 0800`+md("03", "e000", "00000001 00010002 00000064")+udp4(f, 53, `0000 0000`)),
		`2030303030303030 04303030 4530303030302000302f30303030303030303030 003088b6 3030303020`, // INT-MX in GRE, malformed and cut
	} {
		f.Add(reporttest.Hex(f, packet))
	}
	d := NewDecoder(Options{})
	var b []byte
	f.Fuzz(func(t *testing.T, packet []byte) {
		n, err := d.Records(packet, &testOrigin, func(r *Record) {
			b = AppendJSON(b[:0], r)
			if !json.Valid(b) {
				t.Errorf("not JSON: %s", b)
			}
			if b = AppendProto(b[:0], r); !soundMessage(b) {
				t.Errorf("not a message: %x", b)
			}
			if 4*(len(r.Hops)+len(r.DeviceID)/4) > len(packet) || len(r.Links) > len(r.Hops) {
				t.Errorf("%d hops and %d links out of %d bytes", len(r.Hops), len(r.Links), len(packet))
			}
		})
		if n == 0 && err == nil {
			t.Error("neither a record nor an error")
		}
		if at := slices.IndexFunc(d.frame, func(x byte) bool { return x != 0 }); at >= 0 {
			t.Fatalf("byte %d of the frame stays", at)
		}
	})
}

// soundMessage reports whether b consists of whole protobuf fields with field numbers of the
// schema and lengths within b.
func soundMessage(b []byte) bool {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 || tag>>3 == 0 || tag>>3 > lastNumber {
			return false
		}
		b = b[n:]
		size := 0
		switch tag & 7 {
		case wireVarint:
			_, size = binary.Uvarint(b)
		case wireFixed64:
			size = 8
		case wireFixed32:
			size = 4
		case wireBytes:
			length, n := binary.Uvarint(b)
			if n <= 0 || length > uint64(len(b)-n) {
				return false
			}
			size = n + int(length)
		}
		if size <= 0 || size > len(b) {
			return false
		}
		b = b[size:]
	}
	return true
}
