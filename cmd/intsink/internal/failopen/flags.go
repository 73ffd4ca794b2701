// Flags and help of intsink mode.

package failopen

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
)

// NewCommand returns the command.
func NewCommand() *cobra.Command {
	var o client.Options
	cmd := &cobra.Command{
		Use:   "mode [full|strip|pass|bypass] [--socket PATH | --config FILE | --url URL [--token-file FILE] [--ca FILE]] [--format text|json]",
		Short: "Print or change how much a running sink does with packets",
		Long: `Print the mode of a running sink, or ask for another one:

  full    INT is removed, flows are watched, reports are sent
  strip   INT is removed; no flows, events and reports
  pass    packets pass as they came, unparsed, with their INT
  bypass  as pass, and the switch of bypass { command } takes packets around the sink

No mode drops a packet that full would not. What is asked for lasts until the next intsink mode,
over reloads and restarts. Where overload { mode } lets the load of the workers ask for a mode, too, the
lower of both is in force.

Exit codes: 0 success, 1 the sink refuses or does not answer, 2 wrong usage.`,
		Example: `  intsink mode
  intsink mode strip
  intsink mode full`,
		Args:      cli.AtMostOneArg("MODE"),
		ValidArgs: []string{"full", "strip", "pass", "bypass"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return RunMode(cmd.Context(), cmd.OutOrStdout(), &o, append(args, "")[0])
		},
	}
	o.RegisterControl(cmd)
	o.RegisterFormat(cmd, "for people")
	return cmd
}
