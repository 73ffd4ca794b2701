// Flags and help of intsink problems.

package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/top"
)

func newProblemsCommand() *cobra.Command {
	var o top.ProblemOptions
	cmd := &cobra.Command{
		Use:   "problems [--all | --since WHEN] [--kind KIND] [--json] [--config FILE | --socket PATH | --url URL [--token-file FILE] [--ca FILE]]",
		Short: "Print what is wrong, where, since when, and what to do",
		Long: `Print the problems of a running sink: what is wrong now, where, for how long, what shows
it, and what to do. With --all also those of the last 24 hours that have ended, with --since those
that were wrong then or later; the page over all sinks has them from ClickHouse.

Exit codes: 0 nothing is wrong, 1 something is, or the sink does not answer, 2 wrong usage.`,
		Example: `  intsink problems
  intsink problems --all --kind reports_lost
  intsink problems --address collector:9466 --since 168h
  intsink problems --json | jq '.items[].kind'`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return top.Problems(cmd.Context(), cmd.OutOrStdout(), &o)
		},
	}
	o.Sink.Register(cmd)
	names.Flag(cmd, &o.Sink.Numeric)
	cmd.Flags().BoolVar(&o.All, "all", false, "also those that have ended")
	cmd.Flags().StringVar(&o.Since, "since", "", "those that were wrong then or later: a time, or how long ago")
	cmd.MarkFlagsMutuallyExclusive("all", "since")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "the API's answer")
	cmd.Flags().StringVar(&o.Kind, "kind", "", "only these kinds, with commas between them")
	kinds := problem.KindNames(slices.Concat(problem.Kinds, problem.KindsOfSinks))
	cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(strings.Split(kinds, ", "), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
