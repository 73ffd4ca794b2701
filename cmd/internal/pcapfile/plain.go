// Plain: copies a capture that DPDK's pcap driver cannot read, or not all of it (gzip, standard input,
// interfaces that differ, records longer than the snap length), into a file that it can read.

package pcapfile

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
	Path     string   // to read, in this process
	original *Reader  // Path is a copy of this capture; nil: Path is the capture itself
	copied   *os.File // the copy, which has no name: however the process ends, it goes away
}

// MakePlain makes the copy where there has to be one, and shows on terminal how far it is.
// Close it.
func MakePlain(path string, terminal io.Writer) (*Plain, error) {
	in, err := OpenEthernet(path)
	if err != nil {
		return nil, err
	}
	if in.isPlain(path, terminal) {
		in.Close()
		return &Plain{Path: path}, nil
	}
	to, err := os.CreateTemp("", "intsink-capture-*.pcap")
	if err != nil {
		in.Close()
		return nil, err
	}
	in.ShowProgress(terminal, "copy of "+in.Path)
	if err := errors.Join(os.Remove(to.Name()), in.copyTo(to)); err != nil {
		in.Close()
		to.Close()
		return nil, err
	}
	return &Plain{fmt.Sprintf("/proc/self/fd/%d", to.Fd()), in, to}, nil
}

// isPlain reports whether the driver reads all of the capture at path. It takes commas and equals
// signs for its own, and opens the file for itself.
func (c *Reader) isPlain(path string, terminal io.Writer) bool {
	if info, err := c.file.Stat(); path == Stdin || c.gzipped || strings.ContainsAny(path, ",=") || err != nil || !info.Mode().IsRegular() {
		return false
	}
	const longest = 65535 // that the driver hands over: a longer snap length cuts nothing
	if c.ng == nil && (c.snap == 0 || c.snap >= longest) {
		return true
	}
	return readsWhole(path, terminal)
}

// readsWhole looks through a capture for what libpcap does not read, which shows only at its end: interfaces
// of pcapng with other link types or snap lengths than the first one, and records that are longer than the
// snap length, as some writers have them.
func readsWhole(path string, terminal io.Writer) bool {
	c, err := Open(path)
	if err != nil {
		return false
	}
	defer c.Close()
	c.ShowProgress(terminal, "look through "+c.Path)
	longest := 0
	for {
		p, err := c.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false // the copy says what is wrong
		}
		longest = max(longest, len(p.Data))
	}
	snap, same := c.snaps()
	return same && (snap == 0 || uint64(longest) <= uint64(snap))
}

// snaps returns the snap length of the capture's first interface, and whether all have that and its link type.
func (c *Reader) snaps() (snap uint32, same bool) {
	if c.ng == nil {
		return c.snap, true
	}
	first, same := pcapgo.NgInterface{}, true
	for i := range c.ng.NInterfaces() {
		n, _ := c.ng.Interface(i) // exists
		if i == 0 {
			first = n
		}
		same = same && n.SnapLength == first.SnapLength && n.LinkType == first.LinkType
	}
	return first.SnapLength, same
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
	return errors.Join(p.original.Close(), p.copied.Close())
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
