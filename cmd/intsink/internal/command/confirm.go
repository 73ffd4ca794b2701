// Flags and help of intsink confirm.

package command

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
)

func newConfirmCommand() *cobra.Command {
	var o client.ReloadOptions
	var back bool
	cmd := &cobra.Command{
		Use:   "confirm [--back] [--socket PATH | --config FILE | --url URL [--token-file FILE] [--ca FILE]] [--format text|json]",
		Short: "Keep a configuration, or a program, that is on trial",
		Long: `Keep the configuration that intsink reload --confirm has put on trial, or the program that
intsink upgrade has, which is then installed. With --back return to the one before it at
once.

Exit codes: 0 done, 1 there is no trial, or the sink does not answer, 2 wrong usage.`,
		Example: `  intsink confirm
  intsink confirm --back`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return client.Confirm(cmd.Context(), cmd.OutOrStdout(), cli.Printable(cmd.ErrOrStderr()), &o, back)
		},
	}
	o.Sink.RegisterControl(cmd)
	cmd.Flags().BoolVar(&back, "back", false, "return to what was before the trial")
	o.Sink.RegisterFormat(cmd, "a line for each change")
	return cmd
}
