// Flags and help of intsink mitigate: list, add, remove.

package mitigation

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
)

// NewCommand returns the command.
func NewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mitigate",
		Short: "Drop, police or count packets of a running sink by rules that end by themselves",
		Long: `Add, list and remove rules by which a running sink drops packets on their way to the
hosts: an attack, for as long as it lasts. Rules hold on links that have mitigation = true,
count what they select, and end after their time to live; reloads and restarts leave them
alone. Of several rules that select a packet, the first decides.

The sink is found as intsink status finds it, and asked on its unix socket: root may ask
there, and the user that the sink runs as. At --url it takes a token that may write.`,
		Example: `  intsink mitigate add --destination 192.0.2.1 --protocol udp --destination-port 53 --ttl 10m
  intsink mitigate list
  intsink mitigate remove 1`,
		Args: cli.KnownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newListCommand(), newAddCommand(), newRemoveCommand())
	return cmd
}

// addFlags adds the flags that all of its commands have.
func addFlags(cmd *cobra.Command, o *Options) {
	o.Sink.RegisterControl(cmd)
	o.Sink.RegisterFormat(cmd, "a table")
}

func newListCommand() *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "list [--socket PATH | --config FILE | --url URL] [--format text|json]",
		Short: "List the rules that are in force, and what they have selected and dropped",
		Long: `List the rules that are in force, in the order in which they are asked, with what each
has selected and dropped.

Exit codes: 0 success, 1 the sink does not answer, 2 wrong usage.`,
		Example: `  intsink mitigate list
  intsink mitigate list --url http://127.0.0.1:9465 --format json | jq .rules[].dropped_packets`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return RunList(cmd.Context(), cmd.OutOrStdout(), &o)
		},
	}
	addFlags(cmd, &o)
	return cmd
}

func newAddCommand() *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "add --ttl TIME [--action drop|police|count] [--source PREFIX ...] ...",
		Short: "Add a rule",
		Long: `Add a rule behind those that there are. All that it names must fit; of what it names
several times, one. INT packets are selected by what they are without INT. At least one of
--source to --source-mac is needed.

Exit codes: 0 the rule is in force, 1 it was refused, or the sink does not answer, 2 wrong usage.`,
		Example: `  intsink mitigate add --destination 192.0.2.1 --protocol udp --destination-port 53 --ttl 10m
  intsink mitigate add --action police --rate 10M --source 198.51.100.0/24 --ttl 1h --comment "ticket 4711"
  intsink mitigate add --action count --device-id 0x0200000000090000 --ttl 5m`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return RunAdd(cmd.Context(), cmd.OutOrStdout(), &o)
		},
	}
	addFlags(cmd, &o)
	f := cmd.Flags()
	f.DurationVar(&o.TTL, "ttl", 0, "how long the rule lasts: 1s to 720h")
	f.StringVar(&o.Action, "action", "drop", "drop, police (drop what exceeds --rate) or count (let pass)")
	f.StringVar(&o.Rate, "rate", "", "bits per second that police lets pass: 500k, 10M, 1G")
	f.StringVar(&o.Comment, "comment", "", "what the rule is for; it stands in the list and in the log")
	o.Match.AddFlags(f)
	cmd.RegisterFlagCompletionFunc("action", cobra.FixedCompletions([]string{"drop", "police", "count"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func newRemoveCommand() *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "remove ID [--socket PATH | --config FILE | --url URL] [--format text|json]",
		Short: "Remove a rule",
		Long: `Remove a rule before its time to live is over, and print what it has selected and dropped.

Exit codes: 0 the rule is gone, 1 there was none, or the sink does not answer, 2 wrong usage.`,
		Example: `  intsink mitigate remove 1`,
		Args:    cli.OneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return RunRemove(cmd.Context(), cmd.OutOrStdout(), &o, args[0])
		},
	}
	addFlags(cmd, &o)
	return cmd
}
