package decode

import (
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"intsink/engine/wire/report"
)

// text returns what decode prints of one report as text.
func text(t *testing.T, r *report.Individual) string {
	t.Helper()
	var p report.Packet
	p.Open(make([]byte, 1400))
	p.Append(r)
	stdout, _, err := runDecode(t, "--format", "text", writeFrames(t, layers.LinkTypeEthernet, false, frame(p.Seal(report.GroupHeader{NodeID: 3}), collectorAddr)))
	if err != nil {
		t.Fatal(err)
	}
	return stdout
}

// TestTextNamesDropReasons: where JSON has drop_reason_name, so has text.
func TestTextNamesDropReasons(t *testing.T) {
	for code, want := range map[byte]string{60: "\n  drop_reason 60 acl_deny\n", 255: "\n  drop_reason 255 \n"} {
		got := text(t, &report.Individual{RepType: report.INT, InType: report.None, Dropped: true, RepMdBits: report.MdDropReason, Metadata: []byte{0, code, 0, 0}})
		if !strings.Contains(got, want) {
			t.Errorf("%s", got)
		}
	}
}

func TestTextSaysWhy(t *testing.T) {
	for _, c := range []struct {
		name string
		of   report.Explanation
		want string
	}{
		{"values", report.Explanation{Events: 1<<3 | 1<<4, Packets: 9, Bytes: 900, Suppressed: 1, Trigger: report.Trigger{NodeID: 102, Value: 500_000, Reference: 10_000}},
			"\n  events hop_latency,end_to_end: node 102 500000 against 10000 (9 packets, 900 bytes, 1 suppressed, 0 lost, 0 dropped)\n"},
		{"none", report.Explanation{Events: 1 << 10, Packets: 2, Bytes: 120, Trigger: report.NoTrigger}, "\n  events flow_end (2 packets, 120 bytes, 0 suppressed, 0 lost, 0 dropped)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r report.Individual
			r.Explain(&c.of, make([]byte, 200))
			if got := text(t, &r); !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q in it", got, c.want)
			}
		})
	}
}
