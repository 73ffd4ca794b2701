// Flags and help of intsink reload.

package main

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/reload"
)

func newReloadCommand() *cobra.Command {
	var o reload.Options
	cmd := &cobra.Command{
		Use:   "reload [--socket PATH | --config FILE | --url URL [--token-file FILE] [--ca FILE]] [--format text|json]",
		Short: "Make a running sink read its configuration again",
		Long: `Ask a running sink to read its configuration file again, and wait until every
worker has taken it over. What is otherwise than before is printed, with both values.

A file with mistakes is refused, and so is a change that only a restart can make: the
mistakes are printed with line and column, such changes with both values, and the sink
goes on with the configuration that it has.

The sink is asked on its unix socket: at --socket, or where http.socket of the --config
file says, by default where the systemd unit has it. Root may ask, and the user that the
sink runs as. At --url it is asked over TCP, which takes a token of http { token } with
role = "write".

Exit codes: 0 the file is in force, 1 it was refused, or the sink does not answer, 2 wrong usage.`,
		Example: `  intsink reload
  intsink reload --config /etc/intsink/intsink.hcl
  intsink reload --socket /run/intsink/api.sock --format json | jq .changes`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return reload.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), &o)
		},
	}
	o.Sink.RegisterControl(cmd)
	cmd.Flags().StringVar(&o.Format, "format", "text", "text: a line for each change; json: the API's answer")
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
