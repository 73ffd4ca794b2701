// pcapReader: reads pcap files itself: magic numbers, byte order, record headers, and
// records whose length is damaged.

package pcapfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// pcapReader reads the records of a pcap file. It takes a record's length as far as the file
// has the bytes: some writers give a wrong length of the packet on the wire, or records longer
// than the header's snap length, and other tools read such files.
type pcapReader struct {
	r     io.Reader
	order binary.ByteOrder
	unit  int64 // nanoseconds of a record's fraction of a second
	snap  uint32
	link  layers.LinkType
}

const (
	pcapHeaderLen   = 24
	recordHeaderLen = 16
	maxRecord       = 1 << 26 // more is damage
)

// Magic numbers of pcap, as the machine that wrote the file has them in memory.
const (
	magicMicroseconds = 0xa1b2c3d4
	magicNanoseconds  = 0xa1b23c4d
)

func newPcapReader(r io.Reader) (*pcapReader, error) {
	var h [pcapHeaderLen]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return nil, err
	}
	p := &pcapReader{r: r, unit: 1}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		switch order.Uint32(h[:]) {
		case magicMicroseconds:
			p.order, p.unit = order, 1000
		case magicNanoseconds:
			p.order = order
		}
	}
	if p.order == nil {
		//lint:ignore ST1005 the words of the library that read the file before
		return nil, fmt.Errorf("Unknown magic %x", binary.BigEndian.Uint32(h[:]))
	}
	if major := p.order.Uint16(h[4:]); major != 2 {
		return nil, fmt.Errorf("version %d of the format, need 2", major)
	}
	p.snap = p.order.Uint32(h[16:])
	p.link = layers.LinkType(p.order.Uint32(h[20:]) & 0x0fffffff) // the upper bits are about frame check sequences
	return p, nil
}

// ReadPacketData returns the next record; io.EOF at the end and io.ErrUnexpectedEOF
// inside of a record.
func (p *pcapReader) ReadPacketData() (data []byte, info gopacket.CaptureInfo, err error) {
	var h [recordHeaderLen]byte
	if _, err := io.ReadFull(p.r, h[:]); err != nil {
		return nil, info, err
	}
	info.Timestamp = time.Unix(int64(p.order.Uint32(h[:])), int64(p.order.Uint32(h[4:]))*p.unit).UTC()
	info.CaptureLength, info.Length = int(p.order.Uint32(h[8:])), int(p.order.Uint32(h[12:]))
	if info.CaptureLength > maxRecord {
		return nil, info, fmt.Errorf("a record of %d bytes: the file is damaged", info.CaptureLength)
	}
	data, err = readFull(p.r, info.CaptureLength)
	return data, info, err
}

// readFull reads n bytes. It makes no more room than there are bytes, but for the usual
// lengths: a damaged file may say anything.
func readFull(r io.Reader, n int) ([]byte, error) {
	if n <= maxLibpcap {
		data := make([]byte, n)
		_, err := io.ReadFull(r, data)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return data, err
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && len(data) < n {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}
