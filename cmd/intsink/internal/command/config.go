// Flags and help of intsink config history, diff and rollback.

package command

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
)

func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the last configurations of a running sink, what changed, or go back to one",
		Long: `A sink keeps its last 20 configurations, over restarts too: who put each into force, when,
with which comment, and how that ended. diff says what changed between two, or to the one in
force; rollback goes back to one.

Exit codes: 0 success, 1 the sink refuses or does not answer, 2 wrong usage.`,
		Example: `  intsink config history
  intsink config diff 3 5
  intsink config rollback 3 --comment "ticket 4711"`,
		Args: cli.KnownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigHistoryCommand(), newConfigDiffCommand(), newConfigRollbackCommand())
	return cmd
}

func newConfigHistoryCommand() *cobra.Command {
	var o client.Options
	cmd := &cobra.Command{
		Use:     "history [--config FILE | --socket PATH | --url URL [--token-file FILE] [--ca FILE]] [--format text|json]",
		Short:   "Print the last 20 configurations, the newest first",
		Long:    "Print the last 20 configurations of a running sink, the newest first: number, time, who, and how it ended.",
		Example: "  intsink config history",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return client.History(cmd.Context(), cmd.OutOrStdout(), &o)
		},
	}
	o.Register(cmd)
	o.RegisterFormat(cmd, "for people")
	return cmd
}

func newConfigDiffCommand() *cobra.Command {
	var o client.Options
	cmd := &cobra.Command{
		Use:   "diff FROM [TO] [--config FILE | --socket PATH | --url URL [--token-file FILE] [--ca FILE]] [--format text|json]",
		Short: "Print what changed from one configuration to another",
		Long: `Print what changed from one configuration of the history to another, or to the one in force:
attributes with both values, as a reload prints them. Secrets are not shown.`,
		Example: `  intsink config diff 3
  intsink config diff 3 5`,
		Args: configNumbers(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := configsOf(append(args, "0"))
			return client.Diff(cmd.Context(), cmd.OutOrStdout(), &o, n[0], n[1])
		},
	}
	o.Register(cmd)
	o.RegisterFormat(cmd, "for people")
	return cmd
}

func newConfigRollbackCommand() *cobra.Command {
	var o client.ReloadOptions
	var sure bool
	cmd := &cobra.Command{
		Use:   "rollback NUMBER [--yes | --confirm TIME] [--comment TEXT] [--socket PATH | --config FILE | --url URL [--token-file FILE] [--ca FILE]] [--format text|json]",
		Short: "Put a configuration of the history into force again",
		Long: `Put a configuration of the history into force again, by a reload: it is on trial for ten
minutes, or for --confirm, unless intsink confirm comes; with --yes it stays. What a reload may
not change, and who may ask, holds for it, too. The sink's own file stays as it is.`,
		Example: `  intsink config rollback 3
  intsink confirm`,
		Args: configNumbers(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return client.Rollback(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), &o, configsOf(args)[0], sure, o.Comment)
		},
	}
	o.Sink.RegisterControl(cmd)
	cmd.Flags().BoolVar(&sure, "yes", false, "it stays: no trial")
	cmd.Flags().DurationVar(&o.Confirm, "confirm", 0, "go back after that time unless intsink confirm comes: 1s to 24h, 10m where it is left out")
	cmd.Flags().StringVar(&o.Comment, "comment", "", "why, for intsink config history")
	o.Sink.RegisterFormat(cmd, "for people")
	return cmd
}

// configNumbers takes from least to most numbers of configurations.
func configNumbers(least, most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%d arguments: name the number of a configuration, as intsink config history prints it", len(args))
		}
		for _, a := range args {
			if n, err := strconv.ParseUint(a, 10, 64); err != nil || n == 0 {
				return fmt.Errorf("%q: must be the number of a configuration, as intsink config history prints it", a)
			}
		}
		return nil
	}
}

// configsOf are numbers that configNumbers has checked.
func configsOf(args []string) (all []uint64) {
	for _, a := range args {
		n, _ := strconv.ParseUint(a, 10, 64)
		all = append(all, n)
	}
	return all
}
