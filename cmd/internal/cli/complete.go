// Shell completion of flag values: file endings, words.

package cli

import "github.com/spf13/cobra"

// files are the endings of the files that flags take, by the flag's name.
var files = map[string][]string{
	"config": {"hcl"}, "against": {"hcl"},
	"in": {"pcap", "pcapng", "gz"}, "out": {"pcap"}, "reports": {"pcap"}, "original": {"pcap"}, "html": {"html"},
}

// Complete tells the shell what the flags of cmd and of the commands below it take:
// files by their ending, and one of words where words has the flag's name.
func Complete(cmd *cobra.Command, words map[string][]string) {
	for name, endings := range files {
		if cmd.Flags().Lookup(name) != nil {
			cmd.MarkFlagFilename(name, endings...)
		}
	}
	for name, list := range words {
		if cmd.Flags().Lookup(name) != nil {
			cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for _, below := range cmd.Commands() {
		Complete(below, words)
	}
}
