package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// captureReader reads pcap and pcapng files, microseconds or nanoseconds, and
// keeps account of what cannot be read.
type captureReader struct {
	path    string
	file    *os.File
	bytes   countingReader
	r       *bufio.Reader
	gzipped bool
	src     interface {
		ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
	}
	ng   *pcapgo.NgReader // nil where the file is pcap
	link layers.LinkType  // of a pcap file

	packets int   // returned by next
	end     int64 // offset in the file behind the last of them
	at      int64 // time of the last of them
	cut     bool  // the end was reached in the middle of a record
	short   int   // packets that are shorter in the file than on the wire
}

// capturedPacket is one packet of a capture.
type capturedPacket struct {
	data []byte
	at   int64 // Unix nanoseconds
	link layers.LinkType
}

// countingReader counts what was read of a file.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// openCapture opens path and recognises its format.
func openCapture(path string) (*captureReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	c := &captureReader{path: path, file: f, bytes: countingReader{r: f}}
	c.r = bufio.NewReaderSize(&c.bytes, 1<<20) // pcapgo takes it as it is: offset stays right
	magic, err := c.r.Peek(4)
	if err == nil {
		c.gzipped = magic[0] == 0x1f && magic[1] == 0x8b
		err = c.openFormat(string(magic) == "\x0a\x0d\x0d\x0a")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: not a pcap or pcapng capture: %w", path, err)
	}
	return c, nil
}

func (c *captureReader) openFormat(ng bool) (err error) {
	if ng {
		c.ng, err = pcapgo.NewNgReader(c.r, pcapgo.NgReaderOptions{WantMixedLinkType: true})
		c.src = c.ng
		return err
	}
	old, err := pcapgo.NewReader(c.r)
	if err == nil {
		c.src, c.link = old, old.LinkType()
	}
	c.end = c.offset()
	return err
}

// offset is how much of the file was taken.
func (c *captureReader) offset() int64 { return c.bytes.n - int64(c.r.Buffered()) }

// next returns the next packet; io.EOF at the end, also where the rest cannot
// be read because the file is cut short there.
func (c *captureReader) next() (capturedPacket, error) {
	b, info, err := c.src.ReadPacketData()
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF && c.ng == nil && !c.gzipped && c.offset() != c.end {
			c.cut = true
			err = io.EOF
		}
		return capturedPacket{}, err
	}
	p := capturedPacket{data: b, at: c.timeOf(info.Timestamp), link: c.link}
	if c.ng != nil {
		p.link, _ = info.AncillaryData[0].(layers.LinkType)
	}
	c.packets++
	c.end, c.at = c.offset(), p.at
	if info.CaptureLength < info.Length {
		c.short++
	}
	return p, nil
}

// timeOf is t in Unix nanoseconds. A packet without a time (pcapng's Simple
// Packet Block), or with one that no clock can show, has that of the packet
// before it; 0 where there is none.
func (c *captureReader) timeOf(t time.Time) int64 {
	if t.IsZero() || t.Unix() < 0 || t.Unix() >= math.MaxInt64/int64(time.Second) {
		return c.at
	}
	return t.UnixNano()
}

// warn says what of the capture is not in what next returned.
func (c *captureReader) warn(w io.Writer) {
	if c.cut {
		rest := "the rest of the file"
		if s, err := c.file.Stat(); err == nil && s.Mode().IsRegular() && !c.gzipped {
			rest = fmt.Sprintf("the last %d bytes of the file", s.Size()-c.end)
		}
		fmt.Fprintf(w, "warning: %s: cut short or damaged after packet %d: %s could not be read and are left out\n", c.path, c.packets, rest)
	}
	if c.short > 0 {
		fmt.Fprintf(w, "warning: %s: %d of %d packets were captured only in part (snap length) and are taken as they are\n", c.path, c.short, c.packets)
	}
}

// maxLibpcap is the longest packet that libpcap reads from a file.
const maxLibpcap = 262144

// whyUnread says why DPDK's pcap driver cannot read a packet that we can: it
// reads the file with libpcap, which is stricter.
func (c *captureReader) whyUnread(p *capturedPacket) string {
	if len(p.data) > maxLibpcap {
		return fmt.Sprintf("it is %d bytes long, and libpcap reads at most %d", len(p.data), maxLibpcap)
	}
	if c.ng != nil && c.ng.NInterfaces() > 0 {
		first, _ := c.ng.Interface(0) // exists
		for i := range c.ng.NInterfaces() {
			n, _ := c.ng.Interface(i)
			if n.LinkType != first.LinkType {
				return fmt.Sprintf("the capture has interfaces of different link types (%v and %v), and libpcap reads only one: split it by interface",
					first.LinkType, n.LinkType)
			}
			if n.SnapLength != first.SnapLength {
				return "the capture has interfaces with different snap lengths, which libpcap does not read: convert it with editcap -F pcap"
			}
		}
	}
	return "libpcap finds the capture damaged there: try editcap to repair it"
}

func (c *captureReader) Close() error { return c.file.Close() }
