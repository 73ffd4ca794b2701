// Flags and help of intsink paths.

package command

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/top"
)

func newPathsCommand() *cobra.Command {
	var o client.Options
	var dot, each bool
	cmd := &cobra.Command{
		Use:   "paths [--dot | --each] [--config FILE | --socket PATH | --url URL [--token-file FILE] [--ca FILE]]",
		Short: "Print the paths that flows are on",
		Long: `Print the paths that flows are on now, the slowest first: a table, with those that cross
the same nodes in one row (--each: each for itself, with its id), or with --dot a graph in
the language of Graphviz, nodes from left to right, edges as wide as their flows are many,
with the highest link latency, red where a queue of the path is congested.

Exit codes: 0 success, 1 the sink does not answer, 2 wrong usage.`,
		Example: `  intsink paths
  intsink paths --dot | dot -Tsvg > paths.svg`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return top.Paths(cmd.Context(), cmd.OutOrStdout(), &o, dot, each)
		},
	}
	o.Register(cmd)
	names.Flag(cmd, &o.Numeric)
	cmd.Flags().BoolVar(&each, "each", false, "a row for each path, with its id: paths that cross the same nodes differ in interfaces")
	cmd.Flags().BoolVar(&dot, "dot", false, "a graph for Graphviz")
	return cmd
}
