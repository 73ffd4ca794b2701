// Flags and help of intsink why.

package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/names"
)

func newWhyCommand() *cobra.Command {
	var o client.Options
	cmd := &cobra.Command{
		Use:   "why FLOW [--config FILE | --socket PATH | --url URL [--token-file FILE] [--ca FILE]] [--format text|json]",
		Short: "Explain what is reported of one flow",
		Long: `Ask a running sink what it knows of one flow: what was last reported of it, the
latencies that new values are compared with, the thresholds in force, what was
withheld, and what the next report would need.

FLOW is the 5-tuple of the original packets, in the direction of the packets that
carry INT, as GET /api/v1/flows lists it: PROTOCOL:SOURCE:PORT-DESTINATION:PORT,
with IPv6 addresses in brackets, and no ports where the protocol has none. Or two
addresses, SOURCE,DESTINATION: the flow between them, or a list where there are more.

The sink is asked at --url, on --socket, or where the --config file says that it listens.
docs/api.md describes the JSON.

Exit codes: 0 success, 1 the flow is unknown or the sink does not answer, 2 wrong usage.`,
		Example: `  intsink why tcp:10.0.0.1:1024-10.1.0.1:80
  intsink why 'udp:[2001:db8::1]:1024-[2001:db8::2]:53' --config /etc/intsink/intsink.hcl
  intsink why icmp:10.0.0.1-10.1.0.1 --format json | jq .hops`,
		Args: oneFlow,
		RunE: func(cmd *cobra.Command, args []string) error {
			return client.Why(cmd.Context(), cmd.OutOrStdout(), args[0], &o)
		},
	}
	o.Register(cmd)
	names.Flag(cmd, &o.Numeric)
	o.RegisterFormat(cmd, "a few lines for people")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return client.Flows(cmd.Context(), &o), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// oneFlow: what is explained is one flow.
func oneFlow(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fmt.Errorf("why explains one flow, and %d are named: intsink why tcp:10.0.0.1:1024-10.1.0.1:80", len(args))
}
