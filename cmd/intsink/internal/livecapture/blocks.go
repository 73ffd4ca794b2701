// Reads pcapng block by block, so that a file whose transfer breaks off ends with a whole block.

package livecapture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"intsink/engine/aside/capture"
)

// Types of blocks (draft-ietf-opsawg-pcapng, 11.1).
const (
	blockPacket  = 6
	blockSection = 0x0a0d0d0a
)

// maxBlock is more bytes than any block of a sink has: the longest packet and its comment.
const maxBlock = capture.MaxSnap + 4096

// minBlock is the length of the shortest block: its type, and its length twice.
const minBlock = 12

// blocks reads the blocks of a stream.
type blocks struct {
	r     *bufio.Reader
	block []byte
	first bool // a block was read
}

func newBlocks(r io.Reader) *blocks { return &blocks{r: bufio.NewReaderSize(r, 1<<16)} }

// next returns the next block, valid until next is called again. The error is io.EOF behind the
// last block, and io.ErrUnexpectedEOF if the stream ends within one.
func (b *blocks) next() (block []byte, packet bool, err error) {
	b.block = append(b.block[:0], make([]byte, 8)...)
	if _, err := io.ReadFull(b.r, b.block); err != nil {
		return nil, false, err
	}
	kind, n := binary.LittleEndian.Uint32(b.block), binary.LittleEndian.Uint32(b.block[4:])
	if n < minBlock || n > maxBlock || n%4 != 0 || !b.first && kind != blockSection {
		return nil, false, fmt.Errorf("it is no pcapng of intsink: a block of type %#x and %d bytes", kind, n)
	}
	b.first = true
	b.block = append(b.block, make([]byte, n-8)...)
	if _, err := io.ReadFull(b.r, b.block[8:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, false, err
	}
	if last := binary.LittleEndian.Uint32(b.block[n-4:]); last != n {
		return nil, false, fmt.Errorf("it is no pcapng: a block of %d bytes says %d at its end", n, last)
	}
	return b.block, kind == blockPacket, nil
}

// waits reports whether all bytes that have come so far were read.
func (b *blocks) waits() bool { return b.r.Buffered() == 0 }
