package traffic

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// WriteCapture writes the first n frames of s as a classic pcap file.
func WriteCapture(path string, s Spec, n int) (err error) {
	m, err := New(s)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	w.Write(fileHeader())
	var record []byte
	for i := range n {
		_, frame, err := m.Frame(i)
		if err != nil {
			return err
		}
		record = appendRecord(record[:0], uint32(i), frame)
		if _, err := w.Write(record); err != nil {
			return err
		}
	}
	return w.Flush()
}

// fileHeader is magic, version, zone, accuracy, snap length and
// LINKTYPE_ETHERNET.
func fileHeader() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 0xa1b2c3d4)
	b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	return le.AppendUint32(le.AppendUint32(b, 65535), 1)
}

// appendRecord writes frame at a time of so many microseconds.
func appendRecord(b []byte, at uint32, frame []byte) []byte {
	for _, v := range [...]uint32{at / 1e6, at % 1e6, uint32(len(frame)), uint32(len(frame))} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return append(b, frame...)
}

// ReadCapture returns the frames of a classic little-endian pcap file, as
// intsink and WriteCapture write them.
func ReadCapture(path string) ([][]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	const header, record = 24, 16
	if len(b) < header {
		return nil, errors.New(path + ": no pcap file")
	}
	var frames [][]byte
	for b = b[header:]; len(b) >= record; {
		n := int(binary.LittleEndian.Uint32(b[8:]))
		if n > len(b)-record {
			break
		}
		frames, b = append(frames, b[record:record+n]), b[record+n:]
	}
	if len(frames) == 0 || len(b) != 0 {
		return nil, fmt.Errorf("%s: empty or cut off", path)
	}
	return frames, nil
}
