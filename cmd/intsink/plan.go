package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/capture"
	"intsink/cmd/internal/cli"
)

type planFlags struct{ config, in, against, format string }

func newPlanCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan --config NEW --in TRACE.pcap [--against OLD] [--format text|json]",
		Short: "Show the report rate that a configuration would give",
		Long: `Run the packets of a capture through the same engine that run and replay use,
without writing anything, and show what the configuration makes of them: events and
reports per second for each event, reports, report packets and bits per second for
each collector, and what limits suppress. With --against the same of another
configuration, and the difference.

Rates are the mean over the capture, in its time, and the peak: the most in one
second of it, counted from its first packet. Bits are those of whole Ethernet frames.
Time is treated as replay does, and one worker sees all packets: limits that are per
worker hold for the whole capture. Flows that are in the capture from the start count
as new.

Needs no hugepages, no NIC and no DPDK device.`,
		Example: `  intsink plan --config intsink.hcl --in trace.pcap
  intsink plan --config new.hcl --against /etc/intsink/intsink.hcl --in trace.pcap
  intsink plan --config new.hcl --in trace.pcap --format json | jq '.events[] | {event, reports}'`,
		Args: cli.FlagsOnly("config"),
		RunE: func(cmd *cobra.Command, _ []string) error { return runPlan(cmd.OutOrStdout(), cmd.ErrOrStderr(), f) },
	}
	cmd.Flags().StringVar(&f.config, "config", "", "configuration file")
	cmd.Flags().StringVar(&f.in, "in", "", "capture to read (pcap or pcapng, Ethernet)")
	cmd.Flags().StringVar(&f.against, "against", "", "configuration file to compare with")
	cmd.Flags().StringVar(&f.format, "format", "text", "text: tables; json: one JSON object")
	for _, name := range []string{"config", "in"} {
		cmd.MarkFlagRequired(name)
	}
	return cmd
}

func runPlan(stdout, stderr io.Writer, f planFlags) error {
	if f.format != "text" && f.format != "json" {
		return fmt.Errorf("--format %q: must be text or json", f.format)
	}
	p, err := planFor(f.config, f.in, stderr)
	if err != nil {
		return err
	}
	if f.against != "" {
		if p.Against, err = planFor(f.against, f.in, io.Discard); err != nil { // stderr has it already
			return err
		}
	}
	if f.format == "json" {
		err = json.NewEncoder(stdout).Encode(p)
	} else {
		err = p.print(stdout)
	}
	if err != nil {
		return cli.Failed(err)
	}
	return nil
}

// planFor takes the capture through the configuration; what of the capture could not be
// taken as it is goes to warnings.
func planFor(config, path string, warnings io.Writer) (*plan, error) {
	c, err := loadReplayable(config, "plan")
	if err != nil {
		return nil, err
	}
	in, err := capture.OpenEthernet(path)
	if err != nil {
		return nil, cli.Failed(err)
	}
	defer in.Close()
	p, err := newPlanner(c, in)
	if err != nil {
		return nil, cli.Failed(err)
	}
	err = p.run()
	out := p.result()
	out.Config, out.Capture = config, path
	if err := errors.Join(err, p.close()); err != nil {
		return nil, cli.Failed(fmt.Errorf("%s: %w", path, err))
	}
	in.Warn(warnings)
	p.warn(warnings)
	return out, nil
}

// warn says what of the capture was not taken as it is, or makes rates doubtful.
func (p *planner) warn(w io.Writer) {
	p.in.WarnPackets(w, p.tooLong, tooLong)
	p.in.WarnPackets(w, p.backwards, backwards)
	switch {
	case p.in.Packets == 0:
		fmt.Fprintf(w, "warning: %s: there is no packet in it\n", p.in.Path)
	case p.now-p.start < 1e9:
		fmt.Fprintf(w, "warning: %s: shorter than a second: what is given per second is per capture\n", p.in.Path)
	}
}
