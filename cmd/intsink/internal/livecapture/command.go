// The command capture: asks a running sink for packets, and writes them into a file.

package livecapture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/progress"
	"intsink/cmd/intsink/internal/client"
)

// Options are the flags of the command.
type Options struct {
	Sink client.Options
	File string // "-": standard output
	Request
}

const path = "/api/v1/capture"

// Run captures until the sink ends it or ctx does, and tells stderr what there is. The file
// has whole packets, however it ended.
func Run(ctx context.Context, stdout, stderr io.Writer, o *Options) error {
	if err := o.check(stdout); err != nil {
		return err
	}
	sink, err := o.Sink.OpenControl()
	if err != nil {
		return err
	}
	body, trailer, err := sink.Stream(ctx, path, &o.Request)
	if err != nil {
		return client.InFlags(cli.Failed(err), flags)
	}
	defer body.Close()
	out, name, err := o.create(stdout)
	if err != nil {
		return cli.Failed(err)
	}
	n, readErr, writeErr := transfer(out, body, progress.New(stderr, "capture", 0, ""))
	if closeErr := out.close(); writeErr == nil {
		writeErr = closeErr
	}
	switch {
	case writeErr != nil:
		return cli.Failed(fmt.Errorf("%s cannot be written: %w; it has the first %s at most", name, cause(writeErr), cli.Count(n, "packet")))
	case ctx.Err() != nil:
		fmt.Fprintf(stderr, "%s in %s; ended by a signal\n", cli.Count(n, "packet"), name)
		return nil
	case readErr != nil:
		return cli.Failed(fmt.Errorf("the capture breaks off after %s, which are in %s: %w; see the log of the sink", cli.Count(n, "packet"), name, readErr))
	}
	fmt.Fprintf(stderr, "%s in %s; %s\n", cli.Count(n, "packet"), name, summary(trailer))
	return nil
}

func (o *Options) check(stdout io.Writer) error {
	switch {
	case o.File == "":
		return errors.New("-w FILE is missing: name the capture to write, or - for standard output")
	case o.File == "-" && progress.IsTerminal(stdout):
		return errors.New("-w -: standard output is a terminal, and the capture is binary: pipe it on, such as to tshark -r -, or name a file")
	case o.Rate == 0:
		return fmt.Errorf("--rate 0: must be 1 to %d packets a second", maxRate)
	case o.Seconds == 0:
		return fmt.Errorf("--seconds 0: must be more than 0 and at most %d", maxSeconds)
	}
	_, err := o.filter()
	return client.InFlags(err, flags)
}

// flags are those of fields that have another name.
var flags = map[string]string{"links": "link", "watches": "watch", "events": "event", "reasons": "reason"}

// file is where the capture goes.
type file struct {
	*bufio.Writer
	f *os.File // nil: standard output, which stays open
}

// create opens the file once the sink has agreed: a refusal leaves an older one alone.
func (o *Options) create(stdout io.Writer) (out *file, name string, err error) {
	if o.File == "-" {
		return &file{bufio.NewWriterSize(stdout, 1<<16), nil}, "standard output", nil
	}
	f, err := os.Create(o.File)
	if err != nil {
		return nil, "", err
	}
	return &file{bufio.NewWriterSize(f, 1<<16), f}, o.File, nil
}

func (f *file) close() error {
	err := f.Flush()
	if f.f != nil {
		err = errors.Join(err, f.f.Close())
	}
	return err
}

// transfer copies whole blocks and counts packets. What has come is written before it waits
// for more.
func transfer(out *file, body io.Reader, line *progress.Line) (packets int, readErr, writeErr error) {
	defer line.Done()
	for b := newBlocks(body); ; {
		block, packet, err := b.next()
		if errors.Is(err, io.EOF) {
			return packets, nil, nil
		}
		if err != nil {
			return packets, err, nil
		}
		if _, err := out.Write(block); err != nil {
			return packets, nil, err
		}
		if packet {
			packets++
			line.Step(0, uint64(packets))
		}
		if b.waits() {
			if err := out.Flush(); err != nil {
				return packets, nil, err
			}
		}
	}
}

// cause is what the system says, without the path that the message has already.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// summary says why the capture ended, and what of it is missing.
func summary(h http.Header) string {
	s := map[string]string{
		"count": "ended: --count is reached", "seconds": "ended: the time is over", "client": "ended: the sink stops",
	}[h.Get(trailerEnd)]
	if s == "" {
		s = "ended by the sink"
	}
	if n := h.Get(trailerRate); n != "" && n != "0" {
		s += fmt.Sprintf("; %s more packets exceeded the rate (--rate, or a narrower filter)", n)
	}
	if n := h.Get(trailerRoom); n != "" && n != "0" {
		s += fmt.Sprintf("; %s more were not taken from the sink in time", n)
	}
	return s
}
