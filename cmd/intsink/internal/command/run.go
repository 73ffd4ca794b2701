// Flags and help of intsink run.

package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/appliance"
	"intsink/cmd/intsink/internal/failopen"
)

func newRunCommand(version string) *cobra.Command {
	var path, mode string
	var strict bool
	cmd := &cobra.Command{
		Use:   "run --config FILE [--mode full|strip|pass|bypass] [--strict]",
		Short: "Run the appliance",
		Long: `Run the appliance until SIGTERM or SIGINT, which drains it: open reports are
sent, mbufs return to their pools. SIGHUP and intsink reload read the configuration
again: all but node, dpdk, port, link, tap, flows.capacity and
report.coalesce.max_bytes changes without a packet lost; what needs a restart is
refused, and a message says so.`,
		Example: `  intsink run --config /etc/intsink/intsink.hcl
  intsink run --config /etc/intsink/intsink.hcl --mode strip`,
		Args: cli.FlagsOnly("config"),
		RunE: func(*cobra.Command, []string) error {
			if mode != "" {
				if _, err := failopen.ParseMode(mode); err != nil {
					return fmt.Errorf("--mode: %w", err)
				}
			}
			return appliance.Run(path, version, mode, strict)
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "configuration: a file, or a folder of files *.hcl")
	cmd.Flags().StringVar(&mode, "mode", "", "begin in this mode, as intsink mode asks for one; without it in the one that was asked for before a restart, or in full")
	cmd.Flags().BoolVar(&strict, "strict", false, "do not start where something beside the packets is wrong: a name that does not resolve, an address that is taken, a certificate that is missing")
	cmd.MarkFlagRequired("config")
	return cmd
}
