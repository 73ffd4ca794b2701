package strip_test

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"intsink/engine/wire/ifa"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
)

func ifaLocator() *inthdr.Locator {
	return inthdr.NewLocator(inthdr.Config{Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, StripCopies: true, MaxResidence: 1e9}}})
}

// TestStripUndoesIFA: strip(insert(p)) == p for random packets with IFA over TCP, UDP, GRE and ICMP, with every flag, with
// stacks of known hops and of random bytes; the same in a tunnel; and not a byte outside of the frame is touched.
func TestStripUndoesIFA(t *testing.T) {
	r := rand.New(rand.NewPCG(56, 2))
	p, inserted, kinds := ifaLocator(), 0, map[string]int{}
	for n := range cases {
		orig, s, hops := intgen.RandomIFA(r)
		marked, err := s.Insert(orig, hops)
		if err != nil {
			continue // a protocol behind which there is no place, or too long a stack
		}
		inserted++
		if n%4 == 0 {
			orig, marked = tunnelled(r, s, orig, marked)
		}
		got, i := stripped(t, p, marked, r.IntN(40))
		if got == nil || !bytes.Equal(got, orig) {
			t.Fatalf("case %d, %+v, %d hops, reason %v:\noriginal %x\nwith IFA %x\nstripped %x", n, s.IFA, len(hops), i.Reason, orig, marked, got)
		}
		switch {
		case s.IFA.Raw != nil:
			kinds["raw"]++
		case s.IFA.Part:
			kinds["part"]++
			if i.Reason != inthdr.ReasonPart {
				t.Fatalf("case %d: reason %v of a part", n, i.Reason)
			}
		case i.Reason != 0 || s.IFA.HopLen == 32 && int(i.Hops) != len(hops):
			t.Fatalf("case %d, %+v: %d hops found, want %d (reason %v)", n, s.IFA, i.Hops, len(hops), i.Reason)
		case s.IFA.Tail:
			kinds["tail"]++
		case s.IFA.Checksum:
			kinds["checksum"]++
		}
	}
	for _, k := range []string{"raw", "part", "tail", "checksum"} {
		if kinds[k] < inserted/50 {
			t.Errorf("only %d of %d packets with %s", kinds[k], inserted, k)
		}
	}
	if inserted < cases/2 {
		t.Errorf("only %d of %d insertions", inserted, cases)
	}
}

// fromSwitch is a packet as it came out of a switch: a screenshot in the repository Wiflin/INT-wireshark-plugin. Its
// generator had written the metadata header itself, so that UDP's length counts it.
var fromSwitch = strings.ReplaceAll("b8cef60ffcbb 00005e000109 0800  4500009e000100003ffdd8b10b53c5840b53c586  2f110080  8081909100660000  00001e08"+
	"16425c3f 0000f8e0 007e007b 30b81f9e 3b9accda 00000000 00000000 00000000"+strings.Repeat("ff", 64)+
	"6d616769635f636f64652830786465616462656166 2d3338290a", " ", "")

func TestPacketFromSwitch(t *testing.T) {
	frame, err := hex.DecodeString(fromSwitch)
	if err != nil || len(frame) != 172 {
		t.Fatal(len(frame), err)
	}
	p := ifaLocator()
	var l packet.Layers
	var i inthdr.Info
	var o inthdr.Outers
	if packet.Parse(frame, len(frame), &l) != packet.OK || p.Find(frame, &l, &i, &o) != inthdr.Sound {
		t.Fatal("not taken as IFA:", i.Reason)
	}
	s, ok := p.IFAStack(frame, &i)
	var v ifa.Values
	odd, more := s.Next(&v)
	if !ok || !more || i.Copy || i.Hops != 1 || v[ifa.LNS] != 1 || v[ifa.DeviceID] != 410204 || v[ifa.TTL] != 63 || v[ifa.Queue] != 0 ||
		v[ifa.EgressPort] != 126 || v[ifa.IngressPort] != 123 {
		t.Errorf("%+v, %v", i, v)
	}
	if at, known := v.RxTime(); !known || at != 63712_817373086 {
		t.Errorf("received at %d", at)
	}
	if !odd || v[ifa.ResidenceTime] != ifa.Unknown {
		t.Errorf("1,000,000,730 ns in a node are taken: %d", v[ifa.ResidenceTime])
	}
	want := bytes.Clone(frame)
	head := strip.Strip(frame, &l, &i, &o)
	want = append(append(append([]byte(nil), want[:34]...), want[38:46]...), want[46+4+32:]...)
	want[17], want[23] = 0x9e-40, 17
	want[24], want[25] = 0xd9, 0xc5
	if !bytes.Equal(frame[head:], want) {
		t.Errorf("stripped %x\nwant     %x", frame[head:], want)
	}
}

// TestTimesOfIFA: hops have the times at which the packet came and left where nodes tell them, also where the seconds of one have
// begun again; a node tells none of leaving without a residence time.
func TestTimesOfIFA(t *testing.T) {
	const begin = uint64(ifa.Wrap) - 20_000
	for _, c := range []struct {
		name      string
		times     [3]uint64 // the newest first
		residence uint32
		links     [2]int64 // the newest first; -1: not told
	}{
		{name: "times", times: [3]uint64{5e9 + 60_000, 5e9 + 4_000, 5e9}, residence: 1000, links: [2]int64{54_000, 3_000}},
		{name: "newest begins again", times: [3]uint64{begin + 60_000, begin + 4_000, begin}, residence: 1000, links: [2]int64{54_000, 3_000}},
		{name: "all but the source begin again", times: [3]uint64{begin + 60_000, begin + 30_000, begin}, residence: 1000, links: [2]int64{28_000, 29_000}},
		{name: "a residence time that cannot be", times: [3]uint64{5e9 + 60_000, 5e9 + 4_000, 5e9}, residence: 1_000_000_730, links: [2]int64{54_000, -1}},
		{name: "a time is missing", times: [3]uint64{5e9 + 60_000, 0, 5e9}, residence: 1000, links: [2]int64{-1, -1}},
		{name: "none", residence: 1000, links: [2]int64{-1, -1}},
	} {
		hops := []intgen.Hop{{NodeID: 3, LatencyNs: 3000}, {NodeID: 2, LatencyNs: 2000}, {NodeID: 1, LatencyNs: c.residence}}
		for n := range hops {
			hops[n].IngressTimestamp = c.times[n]
		}
		s := intgen.Source{Marking: intgen.ByIFA}
		frame, err := s.Insert(intgen.NthFlow(1, false, false).Frame(100, 1), hops)
		if err != nil {
			t.Fatal(err)
		}
		p := ifaLocator()
		var l packet.Layers
		var i inthdr.Info
		var o inthdr.Outers
		if packet.Parse(frame, len(frame), &l) != packet.OK || p.Find(frame, &l, &i, &o) != inthdr.Sound {
			t.Fatal("not taken as IFA")
		}
		h := p.Hops(frame, &i)
		var x [3]inthdr.Hop
		for n := range x {
			p.Layout(h.Info).Read(&x[n], h.Frame[n*int(h.Info.HopLen):])
		}
		for n, want := range c.links {
			got := int64(-1)
			if in, out := x[n].IngressTime, x[n+1].EgressTime; in != inthdr.UnknownTime && out != inthdr.UnknownTime {
				got = int64(in - out)
			}
			if got != want || x[n].NodeID != uint32(3-n) {
				t.Errorf("%s: link %d takes %d, want %d", c.name, n, got, want)
			}
		}
	}
}

// TestUnsoundIFA: what cannot be taken out stays, for its reason.
func TestUnsoundIFA(t *testing.T) {
	good, err := hex.DecodeString(fromSwitch)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name   string
		change func(b []byte) []byte
		want   inthdr.Reason
	}{
		{"version 3", func(b []byte) []byte { b[34] = 0x3f; return b }, inthdr.ReasonVersion},
		{"version 1", func(b []byte) []byte { b[34] = 0x1f; return b }, inthdr.ReasonVersion},
		{"next header is IFA", func(b []byte) []byte { b[35] = 253; return b }, inthdr.ReasonPlace},
		{"next header is ESP", func(b []byte) []byte { b[35] = 50; return b }, inthdr.ReasonPlace},
		{"current length beyond the packet", func(b []byte) []byte { b[49] = 32; return b }, inthdr.ReasonLength},
		{"tail stamps with a checksum", func(b []byte) []byte { b[36] = 1<<3 | 1; return b }, inthdr.ReasonPlace},
		{"tail stamps in parts", func(b []byte) []byte { b[36] = 1<<3 | 1<<4; return b }, inthdr.ReasonPlace},
		{"tail longer than the packet", func(b []byte) []byte { b[36], b[171] = 1<<3, 255; return b }, inthdr.ReasonLength},
		{"ends in the IFA header", func(b []byte) []byte { b[17] = 22; return b }, inthdr.ReasonTruncated},
		{"ends in UDP", func(b []byte) []byte { b[17] = 31; return b }, inthdr.ReasonTruncated},
		{"ends in the metadata header", func(b []byte) []byte { b[17] = 35; return b }, inthdr.ReasonTruncated},
		{"TCP without a header", func(b []byte) []byte { b[35], b[50] = 6, 0x40; return b }, inthdr.ReasonPlace},
		{"GRE with routing", func(b []byte) []byte { b[35], b[38] = 47, 0x40; return b }, inthdr.ReasonPlace},
		{"GRE header beyond the packet", func(b []byte) []byte { b[35], b[38], b[39], b[17] = 47, 0xb0, 0, 30; return b }, inthdr.ReasonTruncated},
		{"first fragment", func(b []byte) []byte { b[20] = 0x20; return b }, inthdr.ReasonFragment},
	} {
		b := x.change(bytes.Clone(good))
		was := bytes.Clone(b)
		if got, i := stripped(t, ifaLocator(), b, 0); got != nil || i.Reason != x.want || !bytes.Equal(b, was) {
			t.Errorf("%s: reason %v, want %v; stripped %x", x.name, i.Reason, x.want, got)
		}
	}
	for _, x := range []struct {
		name   string
		change func(b []byte)
		want   inthdr.Reason
	}{
		{"half a hop", func(b []byte) { b[49] = 9 }, inthdr.ReasonLayout},
		{"no hop", func(b []byte) { b[49] = 0 }, inthdr.ReasonNone},
		{"hop limit 0", func(b []byte) { b[48] = 0 }, inthdr.ReasonNone},
		{"a part", func(b []byte) { b[36] |= 1 << 4; copy(b[50:54], b[46:50]) }, inthdr.ReasonPart},
	} {
		b := bytes.Clone(good)
		x.change(b)
		if got, i := stripped(t, ifaLocator(), b, 0); got == nil || i.Reason != x.want {
			t.Errorf("%s: reason %v, want %v", x.name, i.Reason, x.want)
		}
	}
	later := bytes.Clone(good)
	later[21] = 1
	if got, i := stripped(t, ifaLocator(), later, 0); got != nil || i.Reason != 0 {
		t.Error("a later fragment is taken for IFA")
	}
}

// FuzzStripIFA: whatever arrives, a packet that is not taken is not touched, and one that is loses what its headers say.
func FuzzStripIFA(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		orig, s, hops := intgen.RandomIFA(r)
		if b, err := s.Insert(orig, hops); err == nil {
			f.Add(b)
		}
	}
	p := ifaLocator()
	f.Fuzz(func(t *testing.T, frame []byte) {
		got, i := stripped(t, p, frame, 0)
		if got != nil && len(got) != len(frame)-int(i.Removed) || i.Removed > i.End-i.Start {
			t.Fatalf("%d bytes of %d are left; %+v", len(got), len(frame), i)
		}
		if got == nil {
			return
		}
		if h := p.Hops(frame, &i); int(h.Info.StackLen) != int(i.Hops)*ifa.INTHopTimeLen {
			t.Fatalf("%d bytes of %d hops", h.Info.StackLen, i.Hops)
		}
	})
}
