// Run of plan: counts with one configuration, or with two that are compared; prints as
// text, JSON or page.

package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/pcapfile"
	"intsink/cmd/intsink/internal/simulate"
	"intsink/conf"
	"intsink/engine/wire/inthdr"
)

// Options are the flags of plan.
type Options struct {
	Config, In, Against, Format, HTML string
	Suggest                           bool // thresholds that fit the capture, in place of the plan
}

// Run prints the plan of a configuration, or of two.
func Run(stdout, stderr io.Writer, f Options) error {
	if f.Format != "text" && f.Format != "json" {
		return fmt.Errorf("--format %q: must be text or json", f.Format)
	}
	if f.Suggest && (f.Against != "" || f.HTML != "" || f.Format == "json") {
		return errors.New("--suggest prints a block for the configuration: it goes with --config and --in alone")
	}
	if f.HTML == pcapfile.Stdin {
		return errors.New("--html -: standard output has the tables: name a file")
	}
	page := cli.FileFlag{Flag: "html", Path: f.HTML}
	for _, read := range []cli.FileFlag{{Flag: "config", Path: f.Config}, {Flag: "against", Path: f.Against}, {Flag: "in", Path: f.In}} {
		if err := cli.Distinct(read, page); err != nil {
			return err
		}
	}
	open := func() (*pcapfile.Reader, error) { return pcapfile.OpenEthernet(f.In) }
	if (f.Against != "" || f.Suggest) && f.In == pcapfile.Stdin { // which can be read once
		plain, err := pcapfile.MakePlain(f.In, stderr)
		if err != nil {
			return cli.Failed(err)
		}
		defer plain.Close()
		plain.Warn(stderr)
		open = plain.Open
	}
	if f.Suggest {
		return runSuggest(stdout, stderr, f.Config, open)
	}
	timed := f.HTML != ""
	p, err := planFor(f.Config, open, timed, stderr, stderr)
	if err != nil {
		return err
	}
	if f.Against != "" {
		if p.Against, err = planFor(f.Against, open, timed, stderr, io.Discard); err != nil { // stderr has it already
			return err
		}
	}
	if f.HTML != "" {
		if err := p.writePage(f.HTML); err != nil {
			return cli.Failed(err)
		}
	}
	if f.Format == "json" {
		err = json.NewEncoder(stdout).Encode(p)
	} else {
		err = p.print(stdout)
	}
	if err != nil {
		return cli.Failed(err)
	}
	return nil
}

// planFor takes the capture through the configuration. Progress goes to terminal, and warnings
// about packets that could not be taken unchanged go to warnings.
func planFor(config string, open func() (*pcapfile.Reader, error), timed bool, terminal, warnings io.Writer) (*Result, error) {
	c, err := simulate.Load(config, "plan")
	if err != nil {
		return nil, err
	}
	return planOf(c, config, open, timed, terminal, warnings, nil)
}

// planOf takes the capture through a configuration, which came from the file config. look, unless nil, sees the planner
// before it is closed.
func planOf(c *conf.Config, config string, open func() (*pcapfile.Reader, error), timed bool, terminal, warnings io.Writer, look func(*planner)) (*Result, error) {
	in, err := open()
	if err != nil {
		return nil, cli.Failed(err)
	}
	defer in.Close()
	in.ShowProgress(terminal, config)
	p, err := newPlanner(c, in, timed)
	if err != nil {
		return nil, cli.Failed(err)
	}
	err = p.run()
	out := p.result()
	out.Config, out.Capture = config, in.Path
	if look != nil {
		look(p)
	}
	p.close()
	if err != nil {
		return nil, cli.Failed(fmt.Errorf("%s: %w", in.Path, err))
	}
	in.Warn(warnings)
	p.warn(warnings)
	return out, nil
}

// warn writes which packets of the capture were not taken unchanged, and what makes rates
// doubtful.
func (p *planner) warn(w io.Writer) {
	p.in.WarnPackets(w, p.tooLong, simulate.TooLong)
	p.in.WarnPackets(w, p.Backwards, simulate.Backwards)
	p.timed.Warn(w)
	switch {
	case p.in.Packets == 0:
		fmt.Fprintf(w, "warning: %s: there is no packet in it\n", p.in.Path)
	case p.Now-p.start < 1e9:
		fmt.Fprintf(w, "warning: %s: shorter than a second: what is given per second is per capture\n", p.in.Path)
	}
	if p.Snapshot().Links[0].INT == [inthdr.NumTypes]uint64{} && p.in.Packets > 0 {
		fmt.Fprintf(w, "warning: %s: ", p.in.Path)
		p.Unmarked.Explain(w)
	}
}
