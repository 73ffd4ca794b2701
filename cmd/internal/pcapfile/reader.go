// Reader: opens pcap and pcapng files, gzip and standard input, and returns packet after
// packet with its time.

package pcapfile

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"intsink/cmd/internal/progress"
)

// Reader reads pcap and pcapng files, of microseconds or nanoseconds, and counts the packets that
// it cannot read.
type Reader struct {
	Path    string
	file    *os.File
	bytes   countingReader
	r       *bufio.Reader
	times   *bufio.Reader // of a pcapng file: what r reads from, with its times as they are; else nil
	gzipped bool
	src     interface {
		ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
	}
	ng   *pcapgo.NgReader // nil where the file is pcap
	link layers.LinkType  // of a pcap file
	snap uint32           // snap length in a pcap file's header
	line *progress.Line   // nil: none

	Packets int   // returned by next
	end     int64 // offset in the file behind the last of them
	at      int64 // time of the last of them
	cut     bool  // the end was reached in the middle of a record
	short   int   // packets that are shorter in the file than on the wire
}

// Packet is one packet of a capture.
type Packet struct {
	Data []byte
	At   int64 // Unix nanoseconds
	Link layers.LinkType
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

// Stdin is the path that stands for standard input.
const Stdin = "-"

// Open opens path, or standard input, and recognises its format; either may be
// compressed by gzip.
func Open(path string) (*Reader, error) {
	f := os.Stdin
	name := "standard input"
	if path != Stdin {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, err
		}
		name = path
	}
	c := &Reader{Path: name, file: f, bytes: countingReader{r: f}}
	c.r = bufio.NewReaderSize(&c.bytes, 1<<20)
	if err := c.openFormat(); err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: not a pcap or pcapng capture: %w", name, err)
	}
	return c, nil
}

func (c *Reader) openFormat() error {
	magic, err := c.r.Peek(4)
	if err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		c.gzipped = true
		var unzipped io.Reader
		if unzipped, err = gzip.NewReader(c.r); err != nil {
			return err
		}
		c.r = bufio.NewReaderSize(unzipped, 1<<20)
		magic, err = c.r.Peek(4)
	}
	if errors.Is(err, io.EOF) && len(magic) == 0 {
		return errors.New("it is empty; a capture of no packets has a header")
	}
	if err != nil {
		return err
	}
	if string(magic) == "\x0a\x0d\x0d\x0a" {
		c.times = c.r
		c.r = bufio.NewReaderSize(&binaryTimes{r: c.times}, 1<<20)
		c.ng, err = pcapgo.NewNgReader(c.r, pcapgo.NgReaderOptions{WantMixedLinkType: true}) // takes c.r as it is: offset stays right
		c.src = c.ng
		return err
	}
	old, err := newPcapReader(c.r)
	if err == nil {
		c.src, c.link, c.snap = old, old.link, old.snap
		c.end = c.offset()
	}
	return err
}

// Drained reports whether everything that has come so far was returned: who reads from a pipe
// may then print.
func (c *Reader) Drained() bool { return c.buffered() == 0 }

// buffered is how much was read and not taken yet.
func (c *Reader) buffered() (n int) {
	if c.times != nil {
		n = c.times.Buffered()
	}
	return n + c.r.Buffered()
}

// ShowProgress shows on w, where it is a terminal, how far what is read of the file is.
// What else is printed there meanwhile goes through the Line.
func (c *Reader) ShowProgress(w io.Writer, what string) *progress.Line {
	c.line = progress.OfFile(w, what, c.file)
	return c.line
}

// offset returns how much of the file was taken; of a compressed one it means nothing.
func (c *Reader) offset() int64 { return c.bytes.n - int64(c.buffered()) }

// Next returns the next packet; io.EOF at the end, also where the rest cannot
// be read because the file is cut short there.
func (c *Reader) Next() (Packet, error) {
	b, info, err := c.src.ReadPacketData()
	if err != nil {
		c.line.Done()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			c.cut = true
			err = io.EOF
		}
		return Packet{}, err
	}
	p := Packet{Data: b, At: c.timeOf(info.Timestamp), Link: c.link}
	if c.ng != nil {
		p.Link, _ = info.AncillaryData[0].(layers.LinkType)
	}
	c.Packets++
	c.end, c.at = c.offset(), p.At
	c.line.Step(c.bytes.n, uint64(c.Packets))
	if info.CaptureLength < info.Length {
		c.short++
	}
	return p, nil
}

// timeOf is t in Unix nanoseconds. A packet without a time (pcapng's Simple
// Packet Block), or with one that no clock can show, has that of the packet
// before it; 0 where there is none.
func (c *Reader) timeOf(t time.Time) int64 {
	if t.IsZero() || t.Unix() < 0 || t.Unix() >= math.MaxInt64/int64(time.Second) {
		return c.at
	}
	return t.UnixNano()
}

// Close closes the file; standard input stays open.
func (c *Reader) Close() error {
	c.line.Done()
	if c.file == os.Stdin {
		return nil
	}
	return c.file.Close()
}

// OpenEthernet opens a capture; whether each packet of a pcapng file is Ethernet shows
// when it is read.
func OpenEthernet(path string) (*Reader, error) {
	in, err := Open(path)
	if err != nil {
		return nil, err
	}
	if link, ok := in.LinkType(); ok && link != layers.LinkTypeEthernet {
		in.Close()
		return nil, fmt.Errorf("%s: link type %v, need Ethernet", path, link)
	}
	return in, nil
}

// NotEthernet is the error of a packet with link type t.
func NotEthernet(t layers.LinkType) error {
	return fmt.Errorf("link type %v, need Ethernet: split the capture by interface", t)
}

// LinkType returns the link type of every packet; false in a pcapng file, where each
// packet has one of its own.
func (c *Reader) LinkType() (t layers.LinkType, ok bool) { return c.link, c.ng == nil }
