// The command capture: asks a running sink for packets, and writes them into a file.

package livecapture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/progress"
	"intsink/cmd/intsink/internal/client"
)

// Options are the flags of the command.
type Options struct {
	Sink  client.Options
	File  string        // "-": standard output
	Force bool          // replace File where there is one
	Back  time.Duration // in place of Before
	Request
}

const path = "/api/v1/capture"

// Run captures until the sink or ctx ends the capture, and prints a summary on stderr. The file
// holds whole packets, however the capture ends.
func Run(ctx context.Context, stdout, stderr io.Writer, o *Options) error {
	if err := o.check(stdout); err != nil {
		return err
	}
	if o.Before > 0 {
		o.Seconds, o.Rate = 0, 0 // defaults of filter
	}
	sink, err := o.Sink.Open()
	if err != nil {
		return err
	}
	if err := cli.Taken(o.File, o.Force); err != nil {
		return cli.Failed(err)
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
	readErr, writeErr := transfer(out, body, progress.New(stderr, "capture", 0, ""))
	if writeErr = out.close(writeErr); writeErr != nil {
		return cli.Failed(cannotWrite(name, out.packets, writeErr))
	}
	there := cli.Count(out.packets, "packet")
	switch {
	case ctx.Err() != nil:
		fmt.Fprintf(stderr, "%s in %s; ended by a signal\n", there, name)
		return nil
	case readErr != nil:
		return cli.Failed(fmt.Errorf("the capture breaks off after %s, which are in %s: %w; see the log of the sink", there, name, readErr))
	}
	what := summary(trailer)
	if o.Before > 0 {
		what = recordedSummary(trailer, o.Back, out.packets)
	}
	fmt.Fprintf(cli.Printable(stderr), "%s in %s; %s\n", there, name, what)
	return nil
}

// cannotWrite says what there is of the capture.
func cannotWrite(name string, packets int, err error) error {
	if packets == 0 {
		return fmt.Errorf("%s cannot be written: %w", name, cause(err))
	}
	return fmt.Errorf("%s cannot be written any more: %w; the first %s are in it, whole", name, cause(err), cli.Count(packets, "packet"))
}

func (o *Options) check(stdout io.Writer) error {
	switch {
	case o.File == "":
		return errors.New("-w FILE is missing: name the capture to write, or - for standard output")
	case o.File == "-" && progress.IsTerminal(stdout):
		return errors.New("-w -: standard output is a terminal, and the capture is binary: pipe it on, such as to tshark -r -, or name a file")
	case o.Back < 0:
		return fmt.Errorf("--before %v: must be how long ago, such as 30s", o.Back)
	case o.Back > 0:
		o.Before, o.Seconds, o.Rate = o.Back.Seconds(), 0, 0
	case o.Rate == 0:
		return fmt.Errorf("--rate 0: must be 1 to %d packets a second", maxRate)
	case o.Seconds == 0:
		return fmt.Errorf("--seconds 0: must be more than 0 and at most %d", maxSeconds)
	}
	_, err := o.filter()
	return client.InFlags(err, flags)
}

// flags has the flags whose names differ from those of the request's fields.
var flags = map[string]string{"links": "link", "watches": "watch", "events": "event", "reasons": "reason"}

// create opens the file. It is called once the sink has agreed, so that a refusal does not
// destroy an older file.
func (o *Options) create(stdout io.Writer) (out *output, name string, err error) {
	if o.File == "-" {
		return &output{w: stdout}, "standard output", nil
	}
	f, err := cli.CreateOwn(o.File, o.Force)
	if err != nil {
		return nil, "", err
	}
	return &output{w: f, f: f}, o.File, nil
}

// transfer copies whole blocks. What has come is written before it waits
// for more.
func transfer(out *output, body io.Reader, line *progress.Line) (readErr, writeErr error) {
	defer line.Done()
	packets := 0
	for b := newBlocks(body); ; {
		block, packet, err := b.next()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return err, nil
		}
		if err := out.add(block); err != nil {
			return nil, err
		}
		if packet {
			packets++
			line.Step(0, uint64(packets))
		}
		if b.waits() {
			if err := out.flush(); err != nil {
				return nil, err
			}
		}
	}
}

// cause returns the system's error without the path, which the message names already.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// summary says why the capture ended, and how many packets are missing in it.
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

// recordedSummary says what there was in the flight recorder of the time that was asked for.
func recordedSummary(h http.Header, before time.Duration, packets int) string {
	reach, _ := strconv.ParseFloat(h.Get(trailerReach), 64)
	back := time.Duration(reach * float64(time.Second)).Round(100 * time.Millisecond)
	s, missed := fmt.Sprintf("of the last %v", before), h.Get(trailerMissed) == "true"
	switch held := h.Get(trailerHeld); {
	case h.Get(trailerEnd) == "client":
		s = "ended: the sink stops"
	case packets > 0:
	case held == "0" && missed:
	case held == "0":
		s += ": nothing was reported in that time, and no queue was in an episode; ask for a longer time, or capture what comes, without --before"
	default:
		s += fmt.Sprintf(": none of the %s packets that were recorded then fits; widen the filter", held)
	}
	if missed {
		s += "; some were overwritten before they could be read: ask for a shorter time, or write to a faster disk"
	}
	switch {
	case reach == 0 || back >= before:
	case h.Get(trailerOver) == "true":
		s += fmt.Sprintf("; the recorder reaches only %v back: older packets are overwritten (recorder.memory)", back)
	default:
		s += fmt.Sprintf("; the sink started %v ago", back)
	}
	return s
}
