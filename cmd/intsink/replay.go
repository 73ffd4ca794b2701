package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/capture"
	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
)

type replayFlags struct{ config, in, out, reports string }

func newReplayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay --config FILE --in IN.pcap --out OUT.pcap --reports REPORTS.pcap",
		Short: "Run a capture through the engine",
		Long: `Run the packets of a capture through the same engine that run uses, over DPDK's
pcap driver in place of the first link's network port. Every packet's time is
its capture time. Time never runs backwards: a packet with an earlier time than
one before it gets the latest time so far, also in OUT, and a packet without a
time that of the packet before it; a jump ahead is believed. Forwarded frames go
to OUT in order, report packets as whole Ethernet/IP/UDP frames to REPORTS. The
same input gives the same output to the byte. Reports come from 0.0.0.0:0 where
the collector has no source, which the kernel chooses when it sends. Needs no
hugepages and no NIC.

Warnings on stderr count what is not as it should be: a capture that is cut short
or damaged, packets captured only in part, times that run backwards, and frames
of more than 65535 bytes, which DPDK cannot carry and which are left out.

The last line of the summary is one JSON object:
  {"received": n, "forwarded": n, "dropped": {reason: n}, "reports": {event: n}}`,
		Example: "  intsink replay --config intsink.hcl --in in.pcap --out out.pcap --reports reports.pcap",
		Args:    cli.FlagsOnly("config"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runReplay(cmd.OutOrStdout(), f) },
	}
	cmd.Flags().StringVar(&f.config, "config", "", "configuration file")
	cmd.Flags().StringVar(&f.in, "in", "", "capture to read (pcap or pcapng, Ethernet)")
	cmd.Flags().StringVar(&f.out, "out", "", "capture to write: forwarded frames")
	cmd.Flags().StringVar(&f.reports, "reports", "", "capture to write: report packets")
	for _, name := range []string{"config", "in", "out", "reports"} {
		cmd.MarkFlagRequired(name)
	}
	return cmd
}

func runReplay(stdout io.Writer, f replayFlags) error {
	if err := cli.Distinct(cli.FileFlag{Flag: "config", Path: f.config}, cli.FileFlag{Flag: "in", Path: f.in}, cli.FileFlag{Flag: "out", Path: f.out}, cli.FileFlag{Flag: "reports", Path: f.reports}); err != nil {
		return err
	}
	c, err := loadReplayable(f.config, "replay")
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
func replay(stdout io.Writer, c *conf.Config, f replayFlags) error {
	in, err := capture.OpenEthernet(f.in)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := capture.Create(f.out)
	if err != nil {
		return err
	}
	reports, err := capture.Create(f.reports)
	if err != nil {
		return err
	}
	source, err := openPcapPort(f.in, rules.ReportRoom(c))
	if err != nil {
		return err
	}
	r := newReplayer(c, source, in, out.Capture, reports.Capture)
	err = errors.Join(r.run(), out.Close(), reports.Close())
	counters := r.Snapshot()
	r.Release()
	if err := errors.Join(err, source.close()); err != nil {
		return err
	}
	in.Warn(os.Stderr)
	r.warn(os.Stderr)
	return printSummary(stdout, &counters)
}

// loadReplayable loads a configuration whose first link command stands in for.
func loadReplayable(path, command string) (*conf.Config, error) {
	c, err := cli.LoadConfigElsewhere(path)
	if err == nil && len(c.Links) == 0 {
		err = cli.Failed(fmt.Errorf("%s: %s needs a link block: it takes the place of the first link's ports", path, command))
	}
	return c, err
}
