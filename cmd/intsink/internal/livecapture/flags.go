// Flags and help of intsink capture.

package livecapture

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
)

// NewCommand returns the command.
func NewCommand() *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "capture -w FILE|- [--stage in|out|both] [--watch NAME ...] [--event EVENT ...] [--reason REASON ...] [--source PREFIX ...] ...",
		Short: "Capture packets of a running sink before and after INT is removed",
		Long: `Capture packets of a running sink into a pcapng file, as they came and as they left, on
every kind of port. Each has its port as interface, its direction, its time to the
nanosecond, and a comment: stage, direction, watch, events of the reports about it, what
is malformed in its INT, and why it was dropped.

What is captured fits every filter that is given, and of a filter given several times one
value. --source to --source-mac ask what the packet is without INT. --reason takes
packets that were dropped, or whose INT is malformed; one that an output port refused is
there as it would have left.

The capture ends by itself: after --seconds, or with --count packets in the file. There is
one at a time. Packets beyond --rate are left out, and counted, and so is what a slow
reader does not take: packets are forwarded as ever. While it runs each packet costs
the sink more; without a capture nothing.

With --before it is packets that came already: those that were reported, and those of queues
in an episode, which the sink keeps in memory as they came, with all INT, cut behind it. All
filters hold; --episode takes those of one episode. The command says how far back it reaches.

The sink is found as intsink status finds it, and asked on its unix socket: root may ask
there, and the user that the sink runs as. At --url it takes a token that may write.

Exit codes: 0 the file is complete, 1 it is not, or the sink refused, 2 wrong usage.`,
		Example: `  intsink capture -w sink.pcapng --seconds 10
  intsink capture -w web.pcapng --watch web --count 100
  intsink capture -w - --reason shim_length --stage in | tshark -r - -Y frame.comment
  intsink capture -w drops.pcapng --event drop --seconds 60
  intsink capture -w before.pcapng --before 30s
  intsink capture -w flow.pcapng --source 10.0.0.1 --destination-port 443 --both-ways --rate 1000`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, flag := range []string{"seconds", "rate"} {
				if o.Back != 0 && cmd.Flags().Changed(flag) {
					return fmt.Errorf("--before goes without --%s: what was recorded is there at once", flag)
				}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return Run(ctx, os.Stdout, cmd.ErrOrStderr(), &o)
		},
	}
	addFlags(cmd, &o)
	return cmd
}

func addFlags(cmd *cobra.Command, o *Options) {
	o.Sink.RegisterControl(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.File, "write", "w", "", "capture to write; -: standard output")
	f.BoolVar(&o.Force, "force", false, "replace the file of --write where there is one")
	f.StringVar(&o.Stage, "stage", "both", "in: as packets came; out: as they left; both")
	f.StringSliceVar(&o.Links, "link", nil, "link or tap")
	f.StringSliceVar(&o.Watches, "watch", nil, "watch that the packet's flow belongs to")
	f.StringSliceVar(&o.Events, "event", nil, "event that a report about the packet has; drop alone: every drop")
	f.StringSliceVar(&o.Reasons, "reason", nil, "reason of intsink_dropped_packets_total or intsink_malformed_packets_total")
	o.Match.AddFlags(f)
	f.BoolVar(&o.BothWays, "both-ways", false, "with --source to --source-port: packets in the opposite direction, too")
	f.IntVar(&o.Count, "count", 0, "end with so many packets in the file; 0: by time alone")
	f.Float64Var(&o.Seconds, "seconds", 60, "end after this time, at most 3600")
	f.Float64Var(&o.Rate, "rate", 10000, "packets a second at most, up to 1000000")
	f.DurationVar(&o.Back, "before", 0, "packets that the flight recorder took in the last 30s, or any time, in place of those that come")
	f.Uint32Var(&o.Episode, "episode", 0, "with --before: packets that passed a queue in the episode of this number")
	f.IntVar(&o.SnapLength, "snap-length", 0, "bytes of each packet; 0: all")
	fixed := func(flag string, values []string) {
		cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	fixed("stage", []string{"in", "out", "both"})
	fixed("event", EventNames())
	fixed("reason", ReasonNames())
}
