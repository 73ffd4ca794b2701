// Flags and help of intsink plan.

package command

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/plan"
)

func newPlanCommand() *cobra.Command {
	var f plan.Options
	cmd := &cobra.Command{
		Use:   "plan --config NEW --in TRACE.pcap [--against OLD] [--format text|json] [--html FILE] [--suggest]",
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

With --html the same as a page in one file, for a browser or a mail: the reports of each
event over the capture's time, the other configuration's as a line before them, and the
sums.

With --suggest it prints a block events instead, with thresholds that fit what is usual in
the capture, and how often each would have fired in it.

Needs no hugepages, no NIC and no DPDK device.`,
		Example: `  intsink plan --config intsink.hcl --in trace.pcap
  intsink plan --config new.hcl --against /etc/intsink/intsink.hcl --in trace.pcap
  intsink plan --config new.hcl --against old.hcl --in trace.pcap --html plan.html
  intsink plan --config intsink.hcl --in trace.pcap --suggest
  intsink plan --config new.hcl --in trace.pcap --format json | jq '.events[] | {event, reports}'`,
		Args: cli.FlagsOnly("config"),
		RunE: func(cmd *cobra.Command, _ []string) error { return plan.Run(cmd.OutOrStdout(), cmd.ErrOrStderr(), f) },
	}
	cmd.Flags().StringVar(&f.Config, "config", "", "configuration: a file, or a folder of files *.hcl")
	cmd.Flags().StringVar(&f.In, "in", "", "capture to read (pcap or pcapng, Ethernet, also gzipped); -: standard input")
	cmd.Flags().StringVar(&f.Against, "against", "", "configuration file to compare with")
	cmd.Flags().StringVar(&f.Format, "format", "text", "text: tables; json: one JSON object")
	cmd.Flags().StringVar(&f.HTML, "html", "", "page to write: reports over time, in one file")
	cmd.Flags().BoolVar(&f.Suggest, "suggest", false, "print thresholds that fit the capture, as a block events")
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	for _, name := range []string{"config", "in"} {
		cmd.MarkFlagRequired(name)
	}
	return cmd
}
