package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/reporttest"
)

// read returns the reports in wire, and what Open or Err say.
func read(wire []byte) (h Header, all []Report, err error) {
	var p Reports
	err = p.Open(wire)
	for r := (Report{}); err == nil && p.Next(&r); {
		all = append(all, r)
	}
	return p.Header, all, errors.Join(err, p.Err)
}

// describe is a report without its own values: its types, lengths and flags, the bytes of its contents, and its problem.
func describe(r *Report) string {
	s := fmt.Sprintf("%d:%d length %d md %d", r.RepType, r.InType, r.Length, r.MDLength)
	for _, f := range []struct {
		set  bool
		name string
	}{{r.Dropped, " D"}, {r.Congested, " Q"}, {r.Tracked, " F"}, {r.Intermediate, " I"}, {r.Reserved, " reserved"}} {
		if f.set {
			s += f.name
		}
	}
	if r.HasMain {
		s += fmt.Sprintf(" main %04x %04x %04x %04x", r.RepMdBits, r.DomainID, r.DSMdBits, r.DSMdStatus)
	}
	if len(r.DSMetadata) > 0 {
		s += fmt.Sprintf(" ds %x", r.DSMetadata)
	}
	if n := len(r.Inner); n > 0 && n <= 16 {
		s += fmt.Sprintf(" inner %x", r.Inner)
	} else if n > 0 {
		s += fmt.Sprintf(" inner %d", n)
	}
	if r.Problem != NoProblem {
		s += " PROBLEM " + r.Problem.String()
	}
	return s
}

// known are the values that a report has, in the order of the wire.
func known(m *Metadata) string {
	s := ""
	for _, v := range []struct {
		name        string
		value, none uint64
	}{
		{"node", uint64(m.NodeID), inthdr.Unknown}, {"in", uint64(m.Ingress), inthdr.Unknown}, {"out", uint64(m.Egress), inthdr.Unknown},
		{"latency", uint64(m.Latency), inthdr.Unknown}, {"queue", uint64(m.Queue), inthdr.Unknown}, {"occupancy", uint64(m.Occupancy), inthdr.Unknown},
		{"came", m.IngressTime, inthdr.UnknownTime}, {"left", m.EgressTime, inthdr.UnknownTime},
		{"in2", uint64(m.Ingress2), inthdr.Unknown}, {"out2", uint64(m.Egress2), inthdr.Unknown}, {"tx", uint64(m.TxUtilization), inthdr.Unknown},
		{"buffer", uint64(m.Buffer), inthdr.Unknown}, {"used", uint64(m.BufferOccupancy), inthdr.Unknown},
		{"drop queue", uint64(m.DropQueue), inthdr.Unknown}, {"drop", uint64(m.DropReason), inthdr.Unknown},
	} {
		if v.value != v.none {
			s += fmt.Sprintf(" %s %d", v.name, v.value)
		}
	}
	return strings.TrimPrefix(s, " ")
}

const etherHex = `020000000002 020000000001 0800`

// TestReports: the headers of each report, sound or not; a bad one does not hide the next.
func TestReports(t *testing.T) {
	const md = `00010002 03000044`
	for _, c := range []struct {
		name, wire string
		want       []string
	}{
		{"coalesced", `00 00 00 80  04 02 00 40 4500001445000014 10 03 01 20 0001 5453 0000 0002 07210000 02 01 00 10 deadbeef`, []string{
			"0:0 length 0 md 0 D", "0:4 length 2 md 0 Q inner 4500001445000014", "1:0 length 3 md 1 F main 0001 5453 0000 0002", "0:2 length 1 md 0 I inner deadbeef"}},
		{"reserved code points and bits", `24 01 00 00 01020304 50 01 00 00 05060708 06 01 00 0f 090a0b0c`, []string{
			"2:4 length 1 md 0 inner 01020304", "5:0 length 1 md 0 reserved inner 05060708", "0:6 length 1 md 0 reserved inner 090a0b0c"}},
		{"MD Length shorter than RepMdBits", `10 04 01 00 5000 0000 0000 0000` + md + `00000020`, []string{"1:0 length 4 md 1 main 5000 0000 0000 0000 inner 03000044 PROBLEM md_length", "0:0 length 0 md 0 F"}},
		{"MD Length longer than RepMdBits, and no DSMdBits", `14 05 03 00 5000 0007 0000 0000` + md + `45000014 00000000`, []string{"1:4 length 5 md 3 main 5000 0007 0000 0000 ds 45000014 PROBLEM md_length", "0:0 length 0 md 0"}},
		{"DSMdBits, and no bytes for them", `10 04 02 00 5000 0007 8000 0000` + md, []string{"1:0 length 4 md 2 main 5000 0007 8000 0000 PROBLEM md_length"}},
		{"two DSMdBits, and one word", `10 05 03 00 5000 0007 8001 0000` + md + `cafebabe`, []string{"1:0 length 5 md 3 main 5000 0007 8001 0000 ds cafebabe PROBLEM md_length"}},
		{"a DSMdBit may take two words", `10 06 04 00 5000 0007 8000 0000` + md + `cafebabe0badf00d`, []string{"1:0 length 6 md 4 main 5000 0007 8000 0000 ds cafebabe0badf00d"}},
		{"DSMdBits of domain 0, which are reserved", `10 04 02 00 5000 0000 8000 0000` + md, []string{"1:0 length 4 md 2 main 5000 0000 8000 0000"}},
		{"words of domain 0, which has none", `10 05 03 00 5000 0000 8000 0000` + md + `cafebabe`, []string{"1:0 length 5 md 3 main 5000 0000 8000 0000 ds cafebabe PROBLEM md_length"}},
		{"domain specific metadata", `10 05 03 00 5000 0007 8000 0001` + md + `cafebabe`, []string{"1:0 length 5 md 3 main 5000 0007 8000 0001 ds cafebabe"}},
		{"no room for the main contents", `10 01 00 00 00000000 00000020`, []string{"1:0 length 1 md 0 PROBLEM main_contents", "0:0 length 0 md 0 F"}},
		{"InType none with contents", `00 01 00 00 01020304`, []string{"0:0 length 1 md 0 inner 01020304 PROBLEM in_type"}},
		{"beyond the packet", `02 03 00 00 01020304`, []string{"0:2 length 3 md 0 inner 01020304 PROBLEM report_length"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, all, err := read(reporttest.Hex(t, reporttest.GroupHex+c.wire))
			var got []string
			for i := range all {
				got = append(got, describe(&all[i]))
			}
			if err != nil || strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestMetadata: the reporting node's own values, in every version; all ones are none, and each half of a word is a value of its own.
func TestMetadata(t *testing.T) {
	group := reporttest.GroupHex
	ip := etherHex + reporttest.IPv4TCPHex
	for _, c := range []struct{ name, wire, want string }{
		{"2.0, every bit of a value", group + `10 0e 0c 00 7f81 0000 0000 0000 ffff0002 ffffffff ffffffff ffffffffffffffff 0000000000000001 00000003 ffffffff 00000004 ff000005 ff060000`,
			"out 2 left 1 in2 3 tx 4 buffer 255 used 5 drop queue 255 drop 6"},
		{"2.0, known", group + `10 0e 0c 00 7f81 0000 0000 0000 00010002 00000064 03000044 0000000000000009 0000000000000001 00000003 00000008 00000004 01000005 04210000`,
			"in 1 out 2 latency 100 queue 3 occupancy 68 came 9 left 1 in2 3 out2 8 tx 4 buffer 1 used 5 drop queue 4 drop 33"},
		{"2.0, reserved bits stand between", group + `10 05 03 00 8041 0000 0000 0000 0000000c 0000000d 04210000`, "drop queue 4 drop 33"},
		{"2.0, cut in a long one", group + `10 05 03 00 5c00 0000 0000 0000 00010002 03000044 11111111`, "in 1 out 2 queue 3 occupancy 68"},
		{"1.0", `1a 3f 81 45 00000009 00000064 000003e8 00010002 00000064 03000044 000007d0 04210000 00000032` + reporttest.IPv4TCPHex,
			"in 1 out 2 latency 100 queue 3 occupancy 68 came 1000 left 2000 tx 50 drop queue 4 drop 33"},
		{"1.0 without a time", `14 00 00 80 00000009 00000064 ffffffff` + ip, ""},
		{"0.5", `00 20 00 05 00000064 000003e8` + ip, "came 1000"},
		{"0.5, drop", `01 80 00 05 00000064 000003e8 00000009 00010002 03210000` + ip, "in 1 out 2 came 1000 drop queue 3 drop 33"},
		{"0.5, switch local", `02 40 00 05 00000064 fffffff0 00000009 00010002 03000044 000003d8` + ip, "in 1 out 2 latency 1000 queue 3 occupancy 68 came 4294967280 left 984"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, all, err := read(reporttest.Hex(t, c.wire))
			if err != nil || len(all) != 1 || known(&all[0].Own) != c.want {
				t.Errorf("%v: %s\nwant %s", err, known(&all[0].Own), c.want)
			}
		})
	}
}

// TestOldReports: types, lengths, flags and problems of 1.0 and 0.5.
func TestOldReports(t *testing.T) {
	for _, c := range []struct {
		wire string
		want string
	}{
		{`14 00 01 c5 00000009 00000064 00000000 deadbeef`, "0:3 length 4 md 0 D Q F inner deadbeef"},
		{`14 20 00 05 00000009 00000064 00000000 deadbeef`, "0:4 length 4 md 0 inner deadbeef"},
		{`14 40 00 05 00000009 00000064 00000000 deadbeef`, "0:5 length 4 md 0 inner deadbeef"},
		{`14 60 00 05 00000009 00000064 00000000 deadbeef`, "0:0 length 4 md 0 reserved inner deadbeef PROBLEM header_length"},
		{`14 00 02 05 00000009 00000064 00000000 deadbeef`, "0:3 length 4 md 0 reserved inner deadbeef"},
		{`15 00 00 05 00000009 00000064 00000000 deadbeef 0badcafe`, "0:3 length 5 md 0 inner 0badcafe PROBLEM header_length"},
		{`15 30 00 00 00000009 00000064 00000000 0001`, "0:4 length 5 md 0 PROBLEM report_length"},
		{`00 e0 00 45 00000064 00000000 deadbeef`, "0:3 length 0 md 0 D Q F reserved inner deadbeef"},
	} {
		_, all, err := read(reporttest.Hex(t, c.wire))
		if err != nil || len(all) != 1 || describe(&all[0]) != c.want {
			t.Errorf("%s: %v, %s\nwant %s", c.wire, err, describe(&all[0]), c.want)
		}
	}
}

func TestReadHeader(t *testing.T) {
	for _, c := range []struct {
		name, wire string
		want       Header
		err        error
	}{
		{"2.0", reporttest.GroupHex, Header{Version: Version20, HasNode: true, NodeID: 3, HwID: 5, Sequence: 7, SequenceBits: 22}, nil},
		{"1.0", `14000045 00000009 01000064 000003e8`, Header{Version: Version10, HasNode: true, NodeID: 9, HwID: 5, Sequence: 0x01000064, SequenceBits: 32}, nil},
		{"0.5", `00200005 01000064 000003e8`, Header{Version: Version05, HasNode: false, NodeID: 0, HwID: 5, Sequence: 0x01000064, SequenceBits: 32}, nil},
		{"0.5 drop", `01200005 01000064 000003e8 00000009 00000000 00000000`, Header{Version: Version05, HasNode: true, NodeID: 9, HwID: 5, Sequence: 0x01000064, SequenceBits: 32}, nil},
		{"empty", ``, Header{}, ErrNotReport},
		{"2.0 cut", `21400007 000000`, Header{}, ErrTruncated},
		{"1.0 cut", `14000045 00000009 01000064 0000`, Header{}, ErrTruncated},
		{"1.0 too short for itself", `13000045 00000009 01000064 000003e8`, Header{}, ErrNotReport},
		{"0.5 cut", `02200005 01000064 000003e8 00000009`, Header{}, ErrTruncated},
		{"0.5 of another header", `03200005 01000064 000003e8`, Header{}, ErrNotReport},
		{"version 3", `30000000 00000000`, Header{}, ErrNotReport},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := ReadHeader(reporttest.Hex(t, c.wire))
			if h != c.want || !errors.Is(err, c.err) {
				t.Errorf("%+v, %v; want %+v, %v", h, err, c.want, c.err)
			}
		})
	}
}

// TestToTheEnd: a Report Length of 255 is at least as many words, up to the end of the packet.
func TestToTheEnd(t *testing.T) {
	for words, want := range map[int]Problem{254: ProblemLength, 255: NoProblem, 256: NoProblem, 300: NoProblem} {
		wire := append(reporttest.Hex(t, reporttest.GroupHex+`02010000 00000000 02ff0000`), make([]byte, words*4)...)
		_, all, err := read(wire)
		if err != nil || len(all) != 2 || len(all[1].Inner) != words*4 || all[1].Problem != want || all[1].Offset != 16 {
			t.Errorf("%d words: %v, %d reports", words, err, len(all))
		}
		if n := CountReports(wire); n != 2 {
			t.Errorf("%d words: counted %d", words, n)
		}
	}
}

// TestTLVs: all of them, whatever they are; one that is cut is the last.
func TestTLVs(t *testing.T) {
	for _, c := range []struct{ inner, want string }{
		{`00 01 0042 deadbeef 20 00 0000 10 01 0000 01020304 40 00 0001`, "0:66 deadbeef, 2:0 , 1:0 01020304, 4:1 , "},
		{`20 02 0000 01020304`, "2:0 01020304, PROBLEM tlv"},
		{``, ""},
	} {
		r := Report{InType: report.TLV, Inner: reporttest.Hex(t, c.inner)}
		got := ""
		all := r.TLVs()
		for v := (TLV{}); all.Next(&v); {
			got += fmt.Sprintf("%d:%d %x, ", v.Type, v.Template, v.Data)
		}
		if all.Problem != NoProblem {
			got += "PROBLEM " + all.Problem.String()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.inner, got, c.want)
		}
	}
	odd := Report{InType: report.TLV, Inner: []byte{1, 2}}
	if all := odd.TLVs(); all.Next(&TLV{}) || all.Problem != ProblemTLV {
		t.Errorf("two bytes: %v", all.Problem)
	}
}

// TestTruncated: cut at every byte, a packet has the whole reports in front of the cut, and says that it is cut.
func TestTruncated(t *testing.T) {
	for _, name := range reporttest.Names(t) {
		one := reporttest.Wire(t, name)
		if one[0]>>4 != 2 {
			for n := range headerOf(one) {
				if _, _, err := read(one[:n]); err == nil {
					t.Errorf("%s: %d bytes are no header", name, n)
				}
			}
			continue
		}
		wire := append(bytes.Clone(one), one[report.GroupHeaderLen:]...) // two reports
		for n := range wire {
			_, all, err := read(wire[:n])
			whole := n == len(one)
			cut := err != nil || len(all) > 0 && all[len(all)-1].Problem != NoProblem
			if cut == whole || n > len(one) && (len(all) == 0 || all[0].Problem != NoProblem) {
				t.Errorf("%s: %d of %d bytes: %v, %d reports", name, n, len(wire), err, len(all))
			}
		}
	}
}

// headerOf returns the length of the fixed header of a packet of 1.0 or 0.5.
func headerOf(wire []byte) int {
	if wire[0]>>4 == 1 {
		return header10Len
	}
	return header05Len + localLen[wire[0]&0xf]
}

// TestKnownReportsArePlausible: those of the specifications and of other programs that the tests have.
func TestKnownReportsArePlausible(t *testing.T) {
	for _, name := range reporttest.Names(t) {
		if _, ok := Plausible(reporttest.Wire(t, name)); !ok {
			t.Errorf("%s is taken for noise", name)
		}
	}
}

// TestTransparentSecurity: both kinds of reports of that project's code.
func TestTransparentSecurity(t *testing.T) {
	packet := reporttest.Hex(t, `20000040 000000ea 04 0a 08 00 0000 5453 0000 0000 00000000`+etherHex+`4500 0044 0001 4000 3d 11 0000 c0a80101 c0a80202 0000 022b 0030 0000 18 08 00 11
		2000 0109 8000 5453 8000 4000 000000ea 0000007b 000000000101 0000 1a18 16a0 0008 0000`)
	_, all, err := read(packet)
	if err != nil || len(all) != 1 || all[0].TransparentSecurity != TransparentSecurityPacket || all[0].InType != report.Ethernet || all[0].DomainID != report.TransparentSecurityID {
		t.Fatalf("%v %+v", err, all)
	}
	frame := bytes.Clone(all[0].Inner)
	CorrectTransparentSecurity(frame)
	if shim := 14 + 20 + 8; frame[shim+1] != 7 || binary.BigEndian.Uint16(frame[12:]) != 0x0800 {
		t.Errorf("corrected %x", frame)
	}
	_, all, err = read(reporttest.Hex(t, `20000000 0000007b 02 09 07 00 0001 5453 0000 0000 000f0000 60d36e49 00000005 6b00dbfc6026a3526b00dbfc6026a352`))
	if err != nil || len(all) != 1 || all[0].TransparentSecurity != TransparentSecurityDrop {
		t.Fatalf("%v %+v", err, all)
	}
	if seconds, count, key := all[0].Drop(); seconds != 0x60d36e49 || count != 5 || fmt.Sprintf("%x", key) != "6b00dbfc6026a3526b00dbfc6026a352" {
		t.Errorf("%d %d %x", seconds, count, key)
	}
}

// FuzzReports: no input makes the iterator panic, give more than it was given, or read on without an end.
func FuzzReports(f *testing.F) {
	for _, name := range reporttest.Names(f) {
		f.Add(reporttest.Wire(f, name))
	}
	f.Add(reporttest.Hex(f, reporttest.GroupHex+`13 06 02 20 7000 0000 0000 0000 00010002 ffffffff 0000000a 8100`))
	f.Add(reporttest.Hex(f, reporttest.GroupHex+`01 05 00 00 00 01 0042 deadbeef 20 00 0000 10 01 0000 01020304`))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, all, err := read(b)
		if err == nil && len(all) == 0 {
			t.Fatal("neither a report nor an error")
		}
		total := 0
		for i := range all {
			r := &all[i]
			total += len(r.Inner) + len(r.DSMetadata)
			tlvs := r.TLVs()
			for v := (TLV{}); tlvs.Next(&v); {
				if len(v.Data) > len(r.Inner) {
					t.Fatalf("%d bytes of a TLV out of %d", len(v.Data), len(r.Inner))
				}
			}
			if r.TransparentSecurity == TransparentSecurityDrop {
				r.Drop()
			}
			if r.Packet() && r.InType == report.Ethernet && r.TransparentSecurity == TransparentSecurityPacket {
				CorrectTransparentSecurity(bytes.Clone(r.Inner))
			}
		}
		if total > len(b) {
			t.Errorf("%d bytes of contents out of %d", total, len(b))
		}
		if n := CountReports(b); err == nil && n < len(all) {
			t.Errorf("%d reports, CountReports says %d", len(all), n)
		}
	})
}

// BenchmarkReports reads one report with two hops.
func BenchmarkReports(b *testing.B) {
	payload := reporttest.Wire(b, "int_tcp")
	var p Reports
	var r Report
	b.ReportAllocs()
	for b.Loop() {
		p.Open(payload)
		for p.Next(&r) {
		}
	}
}
