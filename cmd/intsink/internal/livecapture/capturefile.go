// output: writes a capture's file in whole blocks, also where the disk has no more room.

package livecapture

import (
	"encoding/binary"
	"io"
	"os"
)

// outputRoom is how many bytes are written at once, where they come fast.
const outputRoom = 1 << 16

// output takes blocks of pcapng, and writes several at a time.
type output struct {
	w       io.Writer
	f       *os.File // w, where it is a file of the command's own; nil: standard output
	buf     []byte   // whole blocks that are to be written
	size    int64    // of the blocks that are written
	packets int      // that are written
}

// add takes one block.
func (o *output) add(block []byte) error {
	if len(o.buf)+len(block) > outputRoom {
		if err := o.flush(); err != nil {
			return err
		}
	}
	o.buf = append(o.buf, block...)
	return nil
}

// flush writes what was added. Where not all of it can be written, the file ends behind the last
// block that is whole.
func (o *output) flush() error {
	n, err := o.w.Write(o.buf)
	for rest := o.buf[:n]; len(rest) >= minBlock; {
		length := binary.LittleEndian.Uint32(rest[4:])
		if int(length) > len(rest) {
			break
		}
		if binary.LittleEndian.Uint32(rest) == blockPacket {
			o.packets++
		}
		o.size += int64(length)
		rest = rest[length:]
	}
	o.buf = o.buf[:0]
	if err != nil && o.regular() {
		o.f.Truncate(o.size) // less takes no room
	}
	return err
}

// close writes the rest, unless something could not be written, and closes the file. It removes
// one that has no packet for err, or its own error.
func (o *output) close(err error) error {
	if err == nil {
		err = o.flush()
	}
	if o.f == nil {
		return err
	}
	empty := err != nil && o.packets == 0 && o.regular()
	if e := o.f.Close(); err == nil {
		err = e
	}
	if empty {
		os.Remove(o.f.Name())
	}
	return err
}

// regular tells whether there is a file, and no device or pipe.
func (o *output) regular() bool {
	if o.f == nil {
		return false
	}
	info, err := o.f.Stat()
	return err == nil && info.Mode().IsRegular()
}
