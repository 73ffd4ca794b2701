package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"intsink/cmd/internal/pcapfile"
	"intsink/conf"
	"intsink/engine/wire/intgen"
)

// captureOf writes frames into a capture.
func captureOf(t *testing.T, frames ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.pcap")
	w, err := pcapfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range frames {
		w.Write(f, int64(i))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// verified runs the command on frames.
func verified(t *testing.T, o Options, frames ...[]byte) (r Result, err error) {
	t.Helper()
	var out bytes.Buffer
	o.In, o.JSON = captureOf(t, frames...), true
	err = Run(&out, &bytes.Buffer{}, &o)
	if e := json.Unmarshal(out.Bytes(), &r); e != nil {
		t.Fatalf("%v: %v %s", e, err, &out)
	}
	return r, err
}

// TestEveryKindGivesEverythingBack: every kind is tried with packets of random headers, among
// them tunnels, tags, options, extension headers, padding and wrong checksums, and every byte
// comes back.
func TestEveryKindGivesEverythingBack(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 15))
	var frames [][]byte
	for range 300 {
		f, _, _ := intgen.Random(r)
		frames = append(frames, f)
	}
	got, err := verified(t, Options{Seed: 3}, frames...)
	if err != nil || got.First != nil || got.Different != 0 || got.Packets != 300 || got.Tried < 250 {
		t.Errorf("%v: %d of %d packets tried, %d of %d cases different: %+v", err, got.Tried, got.Packets, got.Different, got.Cases, got.First)
	}
	for _, k := range got.Kinds {
		if k.Cases == 0 {
			t.Errorf("%s %s was not tried: %+v", k.Kind, k.Version, k.NotTried)
		}
	}
}

// TestWhatIsNotTriedIsSaid: the result names packets that were left out, and why.
func TestWhatIsNotTriedIsSaid(t *testing.T) {
	plain := intgen.NthFlow(1, false, false).Frame(100, 1)
	fragment := bytes.Clone(plain)
	fragment[20] = 0x20
	marked, err := (&intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 4}).Insert(plain, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := verified(t, Options{Limit: 5}, plain, fragment, plain[:60], append(plain[:12:12], make([]byte, 50)...), marked, plain, plain)
	if err != nil || got.Packets != 5 || got.Tried != 2 || !got.Beyond {
		t.Errorf("%v: %+v", err, got)
	}
	want := []NotTried{
		{"a fragment: sources of INT leave those alone", 1}, {"cut short: the packet is longer than what was captured", 1}, {"neither IPv4 nor IPv6", 1},
	}
	if !slices.Equal(got.NotTried, want) {
		t.Errorf("%+v, want %+v", got.NotTried, want)
	}
	if udp := got.Kinds[0]; udp.Kind != "udp" || udp.Packets != 1 || len(udp.NotTried) != 1 || udp.NotTried[0].Reason != "it is marked as INT already, for such a sink" {
		t.Errorf("%+v", udp)
	}
	if _, err := verified(t, Options{}, fragment); err == nil || !strings.Contains(err.Error(), "no packet could be tried") {
		t.Errorf("nothing to try: %v", err)
	}
}

// TestADifferenceIsShown: a sink that is told to keep checksums gives other bytes back, and the
// result shows them.
func TestADifferenceIsShown(t *testing.T) {
	o := &Options{In: captureOf(t, intgen.NthFlow(1, true, false).Frame(100, 1)), Seed: 1}
	v, err := newVerifier(o)
	if err != nil {
		t.Fatal(err)
	}
	keeps, err := newSink(v.kinds[2].config + "\n  checksum = \"keep\"")
	if err != nil {
		t.Fatal(err)
	}
	v.sinks[v.kinds[2].config] = keeps
	in, err := pcapfile.OpenEthernet(o.In)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := v.all(in, nil); err != nil {
		t.Fatal(err)
	}
	r := &v.result
	if r.Different == 0 || r.First == nil || r.First.Frame != 1 || r.First.Kind != "dscp" || r.First.Offset != 34+16 || len(r.First.Want) != len(r.First.Got) {
		t.Fatalf("%d different, %+v", r.Different, r.First)
	}
	text := r.text()
	for _, want := range []string{
		"The first difference: frame 1 with dscp 2.1, md, 0 hops", "At offset 50; 154 bytes, 154 are wanted.", "wanted, from offset 16:", "with INT, from offset 16:",
		fmt.Sprintf("%d of %d cases did not give back every byte.", r.Different, r.Cases), "DIFFERENT",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}

// TestSeed: the same seed tries the same INT.
func TestSeed(t *testing.T) {
	f := intgen.NthFlow(1, true, true).Frame(100, 1)
	a, _ := verified(t, Options{Seed: 5}, f, f)
	b, _ := verified(t, Options{Seed: 5}, f, f)
	a.Capture, b.Capture = "", ""
	if fmt.Sprint(a) != fmt.Sprint(b) || a.Cases < 300 {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// TestKindsOfAConfiguration: only what a block int reads is tried.
func TestKindsOfAConfiguration(t *testing.T) {
	port, protocol := uint16(7000), uint16(0x88ae)
	for _, c := range []struct {
		name string
		int  conf.INT
		want string
	}{
		{"udp", conf.INT{UDPPort: &port, Versions: []string{"2"}}, "udp 2.1, udp-new 2.1, udp-inside-vxlan 2.1, udp-inside-geneve 2.1, udp-inside-gre 2.1, udp-inside-ipip 2.1"},
		{"1.0", conf.INT{DSCP: []conf.DSCP{{}}, TCPOptions: conf.INTAfterOptions, Versions: []string{"1"}}, "dscp 1.0"},
		{"before the options", conf.INT{DSCP: []conf.DSCP{{}}, TCPOptions: conf.INTBeforeOptions, Versions: []string{"2"}}, "dscp-before-options 2.1"},
		{"gre", conf.INT{GREProtocol: &protocol, Versions: []string{"2"}}, "gre 2.1, gre-inserted 2.1, gre-inserted-ethernet 2.1"},
		{"2016", conf.INT{Geneve: &conf.Geneve{}, VXLANGPE: &conf.VXLANGPE{}, Versions: []string{"0"}}, "vxlan-gpe 2016, geneve 2016"},
		{"none", conf.INT{Versions: []string{"2"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, k := range kinds(rand.New(rand.NewPCG(1, 2))) {
				if k.readBy(&c.int) {
					got = append(got, k.name+" "+k.format)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%s, want %s", strings.Join(got, ", "), c.want)
			}
		})
	}
	r := rand.New(rand.NewPCG(8, 15))
	frame, _, _ := intgen.Random(r)
	got, err := verified(t, Options{Seed: 3, Kinds: &conf.INT{UDPPort: &port, Versions: []string{"2"}}}, frame, frame)
	if err != nil || len(got.Kinds) != 6 || got.Cases == 0 {
		t.Errorf("%v: %d kinds, %d cases", err, len(got.Kinds), got.Cases)
	}
}
