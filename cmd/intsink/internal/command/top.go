// Flags and help of intsink top.

package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/top"
)

func newTopCommand() *cobra.Command {
	o := top.Options{View: "links"}
	cmd := &cobra.Command{
		Use:   "top [VIEW] [--once] [--config FILE | --socket PATH | --url URL [--token-file FILE] [--ca FILE]]",
		Short: "Show a running sink in the terminal",
		Long: fmt.Sprintf(`Show links, flows, paths, queues, links between nodes (hops), collectors, workers,
the load of interfaces and the clocks of nodes, as a running sink knows them,
renewed every two seconds.

VIEW is the first one that is shown: %s.
Keys: 1 to 9 or Tab for the views, s for the order of flows, Space to ask at once,
q to quit. With --once one screen is printed, without a terminal too.

Exit codes: 0 success, 1 the sink does not answer, 2 wrong usage.`, strings.Join(top.Names(), ", ")),
		Example: `  intsink top
  intsink top flows --sort hop_latency
  intsink top queues --once --rows 5 --config /etc/intsink/intsink.hcl`,
		Args:      cli.AtMostOneArg("VIEW"),
		ValidArgs: top.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.View = args[0]
			}
			return top.Run(cmd.Context(), cmd.OutOrStdout(), &o)
		},
	}
	o.Sink.Register(cmd)
	names.Flag(cmd, &o.Sink.Numeric)
	cmd.Flags().StringVar(&o.Sort, "sort", "packets", "order of flows: packets, bytes, last_seen, latency, hop_latency or lost")
	cmd.Flags().BoolVar(&o.Once, "once", false, "print one screen and end")
	cmd.Flags().IntVar(&o.Rows, "rows", 20, "rows of a list, with --once")
	cmd.Flags().DurationVar(&o.Every, "every", 2*time.Second, "how often to ask")
	return cmd
}
