package pcapfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

// FuzzPcap: no file makes the reader panic, return more than is there, or go on for ever.
func FuzzPcap(f *testing.F) {
	f.Add(classic(binary.LittleEndian, magicMicroseconds, 1, record{there: 4, wire: 4}, record{there: 34, wire: 32}))
	f.Add(classic(binary.BigEndian, magicNanoseconds, 113, record{there: 4, wire: 9}, record{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := newPcapReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		total := pcapHeaderLen
		for {
			data, info, err := r.ReadPacketData()
			if err != nil {
				if errors.Is(err, io.EOF) && total != len(b) {
					t.Errorf("the end after %d of %d bytes", total, len(b))
				}
				return
			}
			if total += recordHeaderLen + len(data); total > len(b) || len(data) != info.CaptureLength {
				t.Fatalf("%d bytes out of %d", total, len(b))
			}
		}
	})
}
