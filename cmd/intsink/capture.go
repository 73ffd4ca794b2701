package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// captureReader reads pcap and pcapng files, microseconds or nanoseconds.
type captureReader struct {
	file *os.File
	cut  bool // the end was reached in the middle of a record
	src  interface {
		ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
		LinkType() layers.LinkType
	}
}

// openCapture opens path and recognises its format.
func openCapture(path string) (*captureReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(f, 1<<20)
	c := &captureReader{file: f}
	magic, err := r.Peek(4)
	if err == nil && magic[0] == 0x0a && magic[1] == 0x0d && magic[2] == 0x0d && magic[3] == 0x0a {
		c.src, err = pcapgo.NewNgReader(r, pcapgo.DefaultNgReaderOptions)
	} else if err == nil {
		c.src, err = pcapgo.NewReader(r)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: not a pcap or pcapng capture: %w", path, err)
	}
	return c, nil
}

// next returns the next packet and its time in Unix nanoseconds; io.EOF at the
// end, also where the last record is cut short.
func (c *captureReader) next() ([]byte, int64, error) {
	b, info, err := c.src.ReadPacketData()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		c.cut = true
		err = io.EOF
	}
	return b, info.Timestamp.UnixNano(), err
}

func (c *captureReader) Close() error { return c.file.Close() }
