package main

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/appliance"
	"intsink/cmd/intsink/internal/check"
)

func newCheckCommand() *cobra.Command {
	var path string
	var dump bool
	cmd := &cobra.Command{
		Use:   "check --config FILE [--dump]",
		Short: "Validate a configuration",
		Long: `Validate a configuration without touching a device. Errors are printed on stderr,
all of them together (of more than a hundred, the first hundred and how many more
there are), each with file:line:column and the source line; warnings too. A valid configuration gives a summary on stdout, or with --dump
the effective configuration as HCL, every default filled in.

Exit codes: 0 valid (with or without warnings), 1 invalid, 2 wrong usage.`,
		Example: `  intsink check --config /etc/intsink/intsink.hcl
  intsink check --config intsink.hcl --dump > effective.hcl`,
		Args: cli.FlagsOnly("config"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return check.Run(cmd.OutOrStdout(), cmd.ErrOrStderr(), path, dump, appliance.CheckMachine)
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "configuration file")
	cmd.Flags().BoolVar(&dump, "dump", false, "print the effective configuration as HCL")
	cmd.MarkFlagRequired("config")
	return cmd
}
