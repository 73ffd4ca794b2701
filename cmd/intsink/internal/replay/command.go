// Run of replay: opens files in and out, has the capture replayed, prints the summary.

package replay

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/pcapfile"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/rules"
	"intsink/cmd/intsink/internal/simulate"
	"intsink/cmd/intsink/internal/top"
	"intsink/conf"
)

// Options are the flags of replay.
type Options struct{ Config, In, Out, Reports string }

// Run takes the capture through the engine, writes the packets that leave it and prints a
// summary.
func Run(stdout io.Writer, f Options) error {
	if err := cli.Distinct(cli.FileFlag{Flag: "config", Path: f.Config}, cli.FileFlag{Flag: "in", Path: f.In}, cli.FileFlag{Flag: "out", Path: f.Out}, cli.FileFlag{Flag: "reports", Path: f.Reports}); err != nil {
		return err
	}
	c, err := simulate.Load(f.Config, "replay")
	if err != nil {
		return err
	}
	if err := replay(stdout, c, f); err != nil {
		return cli.Failed(err)
	}
	return nil
}

// replay takes the capture through one worker. Everything runs on this
// goroutine, so that nothing depends on timing.
func replay(stdout io.Writer, c *conf.Config, f Options) error {
	plain, err := pcapfile.MakePlain(f.In, os.Stderr)
	if err != nil {
		return err
	}
	defer plain.Close()
	in, err := plain.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	r, unwritten := write(c, f, plain.Path, in)
	if r == nil {
		return unwritten
	}
	plain.Warn(os.Stderr)
	in.Warn(os.Stderr)
	r.warn(os.Stderr)
	wrong := r.network.Problems()
	for _, p := range wrong.Items { // no sink that runs knows of a capture
		if i := strings.LastIndex(p.Todo, "; "); i >= 0 && strings.Contains(p.Todo[i:], ": intsink ") {
			p.Todo = p.Todo[:i]
		}
	}
	err = r.PrintSummary(stdout, &r.counters, r.WatchFlows(c), wrong.Items, top.Paragraphs(wrong.Items, wrong.Looked.At, names.Of(&c.Names)))
	return errors.Join(err, unwritten, r.ended(f))
}

// ended is where the answer and both files end, unless it is with the capture.
func (r *replayer) ended(f Options) error {
	if r.short == nil {
		return nil
	}
	return fmt.Errorf("%w: what is told, %s and %s end in front of it", r.short, f.Out, f.Reports)
}

// write takes the packets of in, the capture at path, through the worker, and writes both files. Where one of them
// cannot be written, none stays, and r is what was found in all packets nevertheless; nil: nothing was.
func write(c *conf.Config, f Options, path string, in *pcapfile.Reader) (r *replayer, err error) {
	var files pcapfile.Outputs
	out, err := files.Create(f.Out)
	if err != nil {
		return nil, err
	}
	reports, err := files.Create(f.Reports)
	if err != nil {
		return nil, files.Finish(err)
	}
	source, err := openPcapPort(path, rules.ReportRoom(c))
	if err != nil {
		return nil, files.Finish(err)
	}
	r = newReplayer(c, source, in, out.Capture, reports.Capture)
	in.ShowProgress(os.Stderr, in.Path)
	r.run()
	r.counters = r.Snapshot()
	r.network.End()
	r.Release()
	source.close()
	return r, files.Finish(nil)
}
