// Writer and Outputs: write capture files, and remove those that are not complete.

package pcapfile

import (
	"bufio"
	"os"

	"intsink/cmd/internal/cli"
	"intsink/exporters/file"
)

// Writer is a capture under construction, buffered.
type Writer struct {
	*file.Capture
	file *os.File
	buf  *bufio.Writer
}

// Create makes the file, or empties it: packets are for its owner alone.
func Create(path string) (*Writer, error) {
	f, err := cli.Overwrite(path)
	if err != nil {
		return nil, err
	}
	buf := bufio.NewWriterSize(f, 1<<20)
	return &Writer{file.NewCapture(buf), f, buf}, nil
}

// Close writes what is buffered; the file is complete when it returns nil.
func (o *Writer) Close() error {
	err := o.Err()
	if e := o.buf.Flush(); err == nil {
		err = e
	}
	if e := o.file.Close(); err == nil {
		err = e
	}
	return err
}

// Outputs are the captures that one command writes.
type Outputs []*Writer

// Create makes one more.
func (o *Outputs) Create(path string) (*Writer, error) {
	w, err := Create(path)
	if err == nil {
		*o = append(*o, w)
	}
	return w, err
}

// Err is the first error of a write.
func (o Outputs) Err() error {
	for _, w := range o {
		if err := w.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Finish closes all. Where err is not nil, or one of them cannot be written to its end, they
// are removed: none stays that is cut short.
func (o Outputs) Finish(err error) error {
	var paths []string
	for _, w := range o {
		if e := w.Close(); err == nil {
			err = e
		}
		paths = append(paths, w.file.Name())
	}
	if err != nil {
		return cli.Unfinished(err, paths...)
	}
	return nil
}
