// Flags and help of intsink reload.

package command

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
)

func newReloadCommand() *cobra.Command {
	var o client.ReloadOptions
	cmd := &cobra.Command{
		Use:   "reload [--config FILE] [--confirm TIME [--limit LIMIT ...] [--tolerate KIND,...]] [--comment TEXT] [--socket PATH | --url URL [--token-file FILE] [--ca FILE]] [--format text|json]",
		Short: "Make a running sink read its configuration again, or take another one over",
		Long: `Ask a running sink to read its configuration again, or with --config to take over the
file or folder that this command reads, and wait until every worker has done so. What is
otherwise than before is printed, with both values.

With --confirm, the configuration is on trial: what was before comes back by itself after
that time, unless intsink confirm comes. It comes back earlier where something becomes wrong
that a change may bring about (intsink problems: reports lost, a link down, packets dropped
that were not before, ...), but for the kinds of --tolerate; where a --limit is exceeded
(reports=N/s to all collectors together, measured each second; poll_gap=TIME between two
polls of a worker, from two seconds after the reload on); and where a worker does not poll
for two seconds. intsink confirm prints what is worse than before. While a trial lasts, reload and SIGHUP are refused. A restart ends it: the sink
then reads the file that it was started with.

A file with mistakes is refused, and so is a change that only a restart can make: the
mistakes are printed with line and column, such changes with both values, and the sink
goes on with the configuration that it has.

The sink is found as intsink status finds it, and asked on its unix socket: root may ask
there, and the user that the sink runs as. At --url it takes a token of http { token } with
role = "write", or a client certificate (http { tls { client_ca } }) with --cert and --key.

Exit codes: 0 the file is in force, 1 it was refused, or the sink does not answer, 2 wrong usage.`,
		Example: `  intsink reload
  intsink reload --config new.hcl --confirm 10m --limit reports=2000/s --limit poll_gap=10ms
  intsink reload --socket /run/intsink/api.sock --format json | jq .changes`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return client.Reload(cmd.Context(), cmd.OutOrStdout(), cli.Printable(cmd.ErrOrStderr()), &o)
		},
	}
	o.Sink.RegisterControl(cmd)
	cmd.Flags().Lookup("config").Usage = "take this configuration over, a file or a folder, in place of the sink's own; http.socket in it says where the sink is"
	cmd.Flags().DurationVar(&o.Confirm, "confirm", 0, "go back after that time unless intsink confirm comes: 1s to 24h")
	cmd.Flags().StringSliceVar(&o.Limits, "limit", nil, "with --confirm: go back where it is exceeded, reports=2000/s or poll_gap=10ms")
	cmd.Flags().StringSliceVar(&o.Tolerate, "tolerate", nil, "with --confirm: kinds of problems that do not end the trial, such as reports_lost")
	cmd.Flags().StringVar(&o.Comment, "comment", "", "why, for intsink config history")
	o.Sink.RegisterFormat(cmd, "a line for each change")
	return cmd
}
