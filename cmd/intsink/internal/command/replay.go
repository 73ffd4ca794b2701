// Flags and help of intsink replay.

package command

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/replay"
)

func newReplayCommand() *cobra.Command {
	var f replay.Options
	cmd := &cobra.Command{
		Use:   "replay --config FILE --in IN.pcap --out OUT.pcap --reports REPORTS.pcap",
		Short: "Run a capture through the engine",
		Long: `Run the packets of a capture through the same engine that run uses, over DPDK's
pcap driver in place of the first link's network port. Every packet's time is
its capture time. Time never runs backwards: a packet with an earlier time than
one before it gets the latest time so far, also in OUT, and a packet without a
time that of the packet before it. So does one that jumps more than a second
ahead, unless most of the 16 packets behind it share the jump; where they share a
jump back, the clock was set, and time goes on. Forwarded frames go
to OUT in order, report packets as whole Ethernet/IP/UDP frames to REPORTS. The
same input gives the same output to the byte. Reports come from 0.0.0.0:0 where
the collector has no source, which the kernel chooses when it sends. Needs no
hugepages and no NIC.

Warnings on stderr count what is not as it should be: a capture that is cut short
or damaged, packets captured only in part, times that run backwards or that no
other packet shares, and frames of more than 65535 bytes, which DPDK cannot carry
and which are left out. Where a capture cannot be read on, the summary and both
files end in front of that place, which is said, and the exit code is 1.

The summary tells what was wrong in the network: slow hops, full queues and who
filled them, dead nodes, losses, each with its begin and end, as the command
problems does for a running sink. What is usual is learned from the capture
itself: let it begin while all is well. "unknown" says of what nobody can tell
whether it was wrong: too few of its packets were seen.

The last line of the summary is one JSON object:
  {"received": n, "forwarded": n, "dropped": {reason: n}, "reports": {event: n},
   "problems": [as in GET /api/v1/problems], "unknown": text}`,
		Example: "  intsink replay --config intsink.hcl --in in.pcap --out out.pcap --reports reports.pcap",
		Args:    cli.FlagsOnly("config"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return replay.Run(cmd.OutOrStdout(), f) },
	}
	cmd.Flags().StringVar(&f.Config, "config", "", "configuration: a file, or a folder of files *.hcl")
	cmd.Flags().StringVar(&f.In, "in", "", "capture to read (pcap or pcapng, Ethernet, also gzipped); -: standard input")
	cmd.Flags().StringVar(&f.Out, "out", "", "capture to write: forwarded frames")
	cmd.Flags().StringVar(&f.Reports, "reports", "", "capture to write: report packets")
	for _, name := range []string{"config", "in", "out", "reports"} {
		cmd.MarkFlagRequired(name)
	}
	return cmd
}
