// Flags and help of intsink incident.

package command

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/incident"
	"intsink/cmd/intsink/internal/names"
)

func newIncidentCommand() *cobra.Command {
	var o incident.Options
	cmd := &cobra.Command{
		Use:   "incident --flow A,B|FLOW | --host ADDRESS | --node ID [--from TIME] [--to TIME] [--compare 24h] [--format text|json|html] [--config FILE | --socket PATH | --url URL [--token-file FILE] [--ca FILE]]",
		Short: "Say whether it was the network, and where, on one page",
		Long: `Ask a running sink about flows between two hosts, of one host or through one node: was
the network slow for them, where, and by how much. The page has each hop and segment of
their paths beside what is usual there, the problems and congested queues that they met,
and how much is known. Its first line says what is wrong now, then what was, the worst
first: a node that is gone, packets that are lost, the network slow at a place; or network
normal, look at the hosts; or not enough coverage to say.

--from and --to are times (2026-11-22T03:31:09Z, or 03:31:09 for the last one, UTC) or how
long ago (10m, the default of --from); the sink keeps a day. --compare 24h puts what each
place did in the same time a day before beside it, and says where it takes twice as long. The paths are those that the flows are on now.
Of flows that have ended it has what episodes, problems and changes of paths say.

Exit codes: 0 success, 1 the sink does not answer, 2 wrong usage.`,
		Example: `  intsink incident --flow 10.0.0.1,10.1.0.1
  intsink incident --host 10.0.0.1 --from 2h --to 1h
  intsink incident --node 202 --compare 24h
  intsink incident --node 202 --format html > incident.html`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return incident.Run(cmd.Context(), cmd.OutOrStdout(), &o)
		},
	}
	o.Sink.Register(cmd)
	names.Flag(cmd, &o.Sink.Numeric)
	f := cmd.Flags()
	f.StringVar(&o.Flow, "flow", "", "flows between these two addresses, or one flow such as tcp:10.0.0.1:1024-10.1.0.1:80, in both directions")
	f.StringVar(&o.Host, "host", "", "flows from or to this address, or prefix")
	f.StringVar(&o.Node, "node", "", "flows through this node")
	f.StringVar(&o.From, "from", "", "the begin: a time, or how long ago (default 10m)")
	f.StringVar(&o.To, "to", "", "the end: a time, or how long ago (default now)")
	f.StringVar(&o.Compare, "compare", "", "how much earlier the time is that each place is compared with, such as 24h")
	o.Sink.RegisterFormat(cmd, "for people", "html: a page to be mailed")
	return cmd
}
