// Writer: a buffered capture file under construction.

package capture

import (
	"bufio"
	"os"

	"intsink/exporters/file"
)

// Writer is a capture under construction, buffered.
type Writer struct {
	*file.Capture
	file *os.File
	buf  *bufio.Writer
}

// Create makes the file, or empties it.
func Create(path string) (*Writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	buf := bufio.NewWriterSize(f, 1<<20)
	return &Writer{file.NewCapture(buf), f, buf}, nil
}

// Close writes what is buffered; the file is complete when it returns nil.
func (o *Writer) Close() error {
	if err := o.buf.Flush(); err != nil {
		o.file.Close()
		return err
	}
	return o.file.Close()
}
