package sinktest

import (
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"intsink/cmd/internal/pcapfile"
	"intsink/cmd/intsink/internal/simulate"
	"intsink/engine/wire/intgen"
)

// CaptureStart is when the captures that tests make begin.
const CaptureStart = 1_700_000_000_000_000_000

// HostFrame is a packet of flow n as its host sent it.
func HostFrame(n int) []byte {
	f := intgen.Flow{
		Src: netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), Dst: netip.AddrFrom4([4]byte{10, 1, 0, 1}),
		Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000,
	}
	return f.Frame(20, uint32(n))
}

// IntFrame is HostFrame with INT.
func IntFrame(t *testing.T, n int) []byte {
	t.Helper()
	s := &intgen.Source{UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	out, err := s.Insert(HostFrame(n), []intgen.Hop{{NodeID: 9, Ingress: 1, Egress: 2, LatencyNs: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Classic is a pcap capture with nanoseconds; times count from CaptureStart.
func Classic(t *testing.T, path string, snap uint32, times []int64, frames ...[]byte) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := pcapgo.NewWriterNanos(f)
	if err := w.WriteFileHeader(snap, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	for i, frame := range frames {
		info := gopacket.CaptureInfo{Timestamp: time.Unix(0, CaptureStart+times[i]), CaptureLength: len(frame), Length: len(frame)}
		if err := w.WritePacket(info, frame); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// replayed is what replay made of a capture.
type replayed struct {
	Stderr       string
	Code         int
	Summary      simulate.Summary
	Out, Reports []pcapfile.Packet
}

// ReplayFile replays the capture at path with Config and more of it.
func ReplayFile(t *testing.T, path, more string) (r replayed) {
	t.Helper()
	dir := t.TempDir()
	if !strings.Contains(more, "flows {") {
		more += FewFlows
	}
	conf := Write(t, filepath.Join(dir, "c.hcl"), Config("udp_port = 5000")+more)
	out, reports := filepath.Join(dir, "out"), filepath.Join(dir, "reports")
	var stdout string
	stdout, r.Stderr, r.Code = Run(t, "replay", "--config", conf, "--in", path, "--out", out, "--reports", reports)
	if r.Code == 0 {
		r.Summary = LastLine(t, stdout)
		r.Out, r.Reports = PacketsOf(t, out), PacketsOf(t, reports)
	}
	return r
}

// PacketsOf are the packets of a capture.
func PacketsOf(t *testing.T, path string) (all []pcapfile.Packet) {
	t.Helper()
	c, err := pcapfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for {
		p, err := c.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		p.At -= CaptureStart
		all = append(all, p)
	}
}
