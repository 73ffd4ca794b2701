// Capture: writes report packets and frames into a pcap file with nanosecond times, for
// replay.

// Package file writes report packets to a capture file as whole
// Ethernet/IPv4 or IPv6/UDP frames, for replay: no socket, no clock of its own.
package file

import (
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/report"
)

// Capture is an Ethernet capture file with nanosecond times. Writes are not
// buffered here; the first error is kept and returned by Err.
type Capture struct {
	w   *pcapgo.Writer
	err error
}

// snapLen is what the capture's header announces: the longest frame there is.
const snapLen = 65535

// NewCapture writes the file header to w.
func NewCapture(w io.Writer) *Capture {
	c := &Capture{w: pcapgo.NewWriterNanos(w)}
	c.err = c.w.WriteFileHeader(snapLen, layers.LinkTypeEthernet)
	return c
}

// Write appends one frame received or sent at time now, Unix nanoseconds.
func (c *Capture) Write(frame []byte, now int64) {
	if c.err != nil {
		return
	}
	c.err = c.w.WritePacket(gopacket.CaptureInfo{
		Timestamp: time.Unix(0, now).UTC(), CaptureLength: len(frame), Length: len(frame),
	}, frame)
}

// Err returns the first error of Write or of the file header.
func (c *Capture) Err() error { return c.err }

// WriteReport appends the report packet in m, put into the frame that f
// describes. m still carries its report.Handoff.
func (c *Capture) WriteReport(f *report.UDPFrame, m *mbuf.Mbuf) {
	h, payload := report.TakeHandoff(m.Bytes())
	frame := make([]byte, f.HeaderLen()+len(payload))
	copy(frame[f.HeaderLen():], payload)
	f.Put(frame)
	c.Write(frame, h.Time)
}
