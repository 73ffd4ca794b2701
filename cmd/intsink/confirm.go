// Flags and help of intsink confirm.

package main

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/reload"
)

func newConfirmCommand() *cobra.Command {
	var o reload.Options
	var back bool
	cmd := &cobra.Command{
		Use:   "confirm [--back] [--socket PATH | --config FILE | --url URL [--token-file FILE] [--ca FILE]] [--format text|json]",
		Short: "Keep a configuration that intsink reload --confirm has put on trial",
		Long: `Keep the configuration that is on trial, or with --back return to the one before it at
once.

Exit codes: 0 done, 1 there is no trial, or the sink does not answer, 2 wrong usage.`,
		Example: `  intsink confirm
  intsink confirm --back`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return reload.Confirm(cmd.Context(), cmd.OutOrStdout(), cli.Printable(cmd.ErrOrStderr()), &o, back)
		},
	}
	o.Sink.RegisterControl(cmd)
	cmd.Flags().BoolVar(&back, "back", false, "return to the configuration before the trial")
	cmd.Flags().StringVar(&o.Format, "format", "text", "text: a line for each change; json: the API's answer")
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
