// Plain: copies a capture that DPDK's pcap driver cannot read, or not all of it (gzip, pcapng,
// standard input, a short snap length), into a file that it can read.

package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// Plain is an Ethernet capture in a form that DPDK's pcap driver can read: the file itself, or
// a copy of it if the driver or libpcap below it may not read all of the original.
type Plain struct {
	Path     string  // to read
	original *Reader // Path is a copy of this capture; nil: Path is the capture itself
}

// MakePlain makes the copy where there has to be one, and shows on terminal how far it is.
// Close it.
func MakePlain(path string, terminal io.Writer) (*Plain, error) {
	in, err := OpenEthernet(path)
	if err != nil {
		return nil, err
	}
	if in.isPlain(path) {
		in.Close()
		return &Plain{Path: path}, nil
	}
	to, err := os.CreateTemp("", "intsink-capture-*.pcap")
	if err != nil {
		in.Close()
		return nil, err
	}
	in.ShowProgress(terminal, "copy of "+in.Path)
	if err := errors.Join(in.copyTo(to), to.Close()); err != nil {
		in.Close()
		os.Remove(to.Name())
		return nil, err
	}
	return &Plain{to.Name(), in}, nil
}

// isPlain reports whether the driver reads all of the capture at path. It takes commas and equals
// signs for its own. libpcap reads pcapng only if all interfaces have one link type and one snap
// length, and of a record no more than the header's snap length: some writers have longer ones.
// Which these are shows only at the end of the file, so that a copy is made of all that could.
func (c *Reader) isPlain(path string) bool {
	const longest = 65535 // that the driver hands over: a longer snap length cuts nothing
	return path != Stdin && !c.gzipped && c.ng == nil && (c.snap == 0 || c.snap >= longest) && !strings.ContainsAny(path, ",=")
}

// Open opens the capture under the name that it was given by.
func (p *Plain) Open() (*Reader, error) {
	r, err := OpenEthernet(p.Path)
	if err == nil && p.original != nil {
		r.Path = p.original.Path
	}
	return r, err
}

// Warn writes which packets of the original are not in the copy.
func (p *Plain) Warn(w io.Writer) {
	if p.original != nil {
		p.original.Warn(w)
	}
}

// Close deletes the copy.
func (p *Plain) Close() error {
	if p.original == nil {
		return nil
	}
	return errors.Join(p.original.Close(), os.Remove(p.Path))
}

// copyTo writes the rest of c as an uncompressed pcap file with nanoseconds.
func (c *Reader) copyTo(to io.Writer) error {
	buf := bufio.NewWriterSize(to, 1<<20)
	out := pcapgo.NewWriterNanos(buf)
	if err := out.WriteFileHeader(maxLibpcap, layers.LinkTypeEthernet); err != nil {
		return err
	}
	for {
		p, err := c.Next()
		if errors.Is(err, io.EOF) {
			return buf.Flush()
		}
		if err != nil {
			return fmt.Errorf("%s: packet %d: %w", c.Path, c.Packets+1, err)
		}
		if p.Link != layers.LinkTypeEthernet {
			return fmt.Errorf("%s: packet %d: %w", c.Path, c.Packets, NotEthernet(p.Link))
		}
		info := gopacket.CaptureInfo{Timestamp: time.Unix(0, p.At).UTC(), CaptureLength: len(p.Data), Length: len(p.Data)}
		if err := out.WritePacket(info, p.Data); err != nil {
			return err
		}
	}
}
