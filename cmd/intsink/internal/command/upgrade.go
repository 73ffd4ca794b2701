// Flags and help of intsink upgrade.

package command

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
)

func newUpgradeCommand() *cobra.Command {
	var o client.ReloadOptions
	cmd := &cobra.Command{
		Use:   "upgrade FILE [--confirm TIME] [--limit LIMIT ...] [--tolerate KIND,...] [--socket PATH | --config FILE]",
		Short: "Run another version in the sink's place, with a way back",
		Long: `Have the program in FILE, a Debian package or the program itself, newer or older, take
the place of the sink that runs on this machine. The sink starts it, with its own user,
rights and arguments, and hands over when it has read the configuration and, on ports of
the kernel, has its memory too; before that, a refusal changes nothing.

Then it is on trial, as a configuration is (intsink reload --confirm): the program before
it comes back where it ends, hangs, does not forward within a minute, where something
becomes wrong that was not before, or where a --limit is exceeded. It comes back, too,
unless it is confirmed: with --confirm by intsink confirm within that time; without, by
this command, when the first minute was good. A restart, a power cut or the end of this
terminal bring the program before it back as well. Confirmed, it is installed, a package by
dpkg, and the program before it is kept beside it, with .before after its name.

Exit codes: 0 the new program runs, 1 it was refused, or went, 2 wrong usage.`,
		Example: `  intsink upgrade ./intsink_0.2.0_amd64.deb
  intsink upgrade ./intsink_0.2.0_amd64.deb --confirm 10m && intsink top
  intsink confirm
  intsink upgrade /usr/bin/intsink.before`,
		Args: cli.OneArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return client.Upgrade(cmd.Context(), cmd.OutOrStdout(), cli.Printable(cmd.ErrOrStderr()), &o, args[0])
		},
	}
	o.Sink.RegisterHere(cmd)
	cmd.Flags().DurationVar(&o.Confirm, "confirm", 0, "go back after that time unless intsink confirm comes: 1s to 24h (default: the first minute decides)")
	cmd.Flags().StringSliceVar(&o.Limits, "limit", nil, "go back where it is exceeded, reports=2000/s or poll_gap=10ms")
	cmd.Flags().StringSliceVar(&o.Tolerate, "tolerate", nil, "kinds of problems that do not end the trial, such as reports_lost")
	return cmd
}
