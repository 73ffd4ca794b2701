// Flags and help of intsink run.

package main

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/appliance"
)

func newRunCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "run --config FILE",
		Short: "Run the appliance",
		Long: `Run the appliance until SIGTERM or SIGINT, which drains it: open reports are
sent, mbufs return to their pools. SIGHUP and intsink reload read the configuration
again: watches, events, report, int, node_model, log, tokens and collectors (those
with a port: their budgets) change without a packet lost; all else needs a restart,
and a message says so.`,
		Example: "  intsink run --config /etc/intsink/intsink.hcl",
		Args:    cli.FlagsOnly("config"),
		RunE:    func(*cobra.Command, []string) error { return appliance.Run(path, version) },
	}
	cmd.Flags().StringVar(&path, "config", "", "configuration: a file, or a folder of files *.hcl")
	cmd.MarkFlagRequired("config")
	return cmd
}
