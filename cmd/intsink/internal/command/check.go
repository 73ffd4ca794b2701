// Flags and help of intsink check.

package command

import (
	"io"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/appliance"
	"intsink/cmd/intsink/internal/check"
	"intsink/cmd/intsink/internal/client"
	"intsink/conf/examples"
)

func newCheckCommand() *cobra.Command {
	var path, fleet string
	var dump, against, example, strict bool
	var running client.ReloadOptions
	cmd := &cobra.Command{
		Use:   "check --config FILE [--dump | --against-running [--socket PATH]] | --fleet DIR | --example",
		Short: "Validate a configuration",
		Long: `Validate a configuration without touching a device. Errors are printed on stderr,
all of them together (of more than a hundred, the first hundred and how many more
there are), each with file:line:column and the source line; warnings too. A valid configuration gives a summary on stdout, or with --dump
the effective configuration as HCL, every default filled in.

With --against-running, the running sink is asked what is otherwise in the file than in the
configuration that it has, and what a reload would refuse: exit code 1, then.

With --fleet, all files *.hcl of a folder, one for each sink: besides, no two may
report as the same node and hw_id, and what int and node_model say otherwise is told.

With --example, a first configuration to begin with is printed.

Exit codes: 0 valid (with or without warnings), 1 invalid, 2 wrong usage.`,
		Example: `  intsink check --example > intsink.hcl
  intsink check --config /etc/intsink/intsink.hcl
  intsink check --config intsink.hcl --dump > effective.hcl
  intsink check --config new.hcl --against-running
  intsink check --fleet sinks/`,
		Args: cli.FlagsOnly("config"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if example {
				_, err := io.WriteString(cmd.OutOrStdout(), examples.First)
				return err
			}
			if fleet != "" {
				return check.Fleet(cmd.OutOrStdout(), cli.Printable(cmd.ErrOrStderr()), fleet)
			}
			o := check.Options{Dump: dump, Strict: strict, WithoutHosts: against} // the running sink looks names up, or keeps what it has
			if err := check.Run(cmd.OutOrStdout(), cli.Printable(cmd.ErrOrStderr()), path, o, appliance.CheckMachine); err != nil || !against {
				return err
			}
			running.Sink.Config, running.Sink.Control = path, true
			return client.Against(cmd.Context(), cmd.OutOrStdout(), cli.Printable(cmd.ErrOrStderr()), &running)
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "configuration: a file, or a folder of files *.hcl")
	cmd.Flags().BoolVar(&dump, "dump", false, "print the effective configuration as HCL")
	cmd.Flags().BoolVar(&strict, "strict", false, "a host name that does not resolve, or what this machine lacks, is an error, not a warning")
	cmd.Flags().StringVar(&fleet, "fleet", "", "folder with the configurations of all sinks, held against each other")
	cmd.Flags().BoolVar(&against, "against-running", false, "what would a reload of the running sink change, or refuse?")
	cmd.Flags().StringVar(&running.Sink.Socket, "socket", "", "with --against-running: unix socket of the running sink (default http.socket of the file)")
	cmd.MarkFlagsMutuallyExclusive("dump", "against-running")
	cmd.MarkFlagsMutuallyExclusive("fleet", "against-running")
	cmd.Flags().BoolVar(&example, "example", false, "print a first configuration: two interfaces of the kernel, one link")
	cmd.MarkFlagsOneRequired("config", "fleet", "example")
	cmd.MarkFlagsMutuallyExclusive("config", "fleet", "example")
	cmd.MarkFlagsMutuallyExclusive("dump", "fleet")
	return cmd
}
