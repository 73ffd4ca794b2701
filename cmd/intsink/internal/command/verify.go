// Flags and help of intsink verify.

package command

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/verify"
)

func newVerifyCommand() *cobra.Command {
	var o verify.Options
	var config string
	cmd := &cobra.Command{
		Use:   "verify --in FILE.pcap [--config FILE] [--limit N] [--seed N] [--json]",
		Short: "Prove on a capture that INT goes without a trace",
		Long: `Put INT of every kind into the packets of a capture (every marking, tunnel, version
and header type, no hops to eight), have the sink remove it, and compare every byte
with what was there before. The sources of INT share no code with the sink. Each packet
goes through twice: its headers are new to the sink, and then it may know them.

The page that is printed says what was tried, how often, and what was not, and why. Where
a byte was not given back it shows the first difference, in hexadecimal. The same seed
puts the same INT in.

All that int blocks can say is tried, or with --config only the kinds that the int block
of that file reads, whatever port or value marks them there. Whether it finds INT in a
capture, intsink plan and replay tell.

Needs no hugepages, no NIC and no DPDK device. Nothing is written.

Exit codes: 0 every byte was given back, 1 some was not, or no packet could be tried, 2
wrong usage.`,
		Example: `  intsink verify --in traffic.pcap
  intsink verify --in traffic.pcapng --limit 0 --seed 7
  tcpdump -i eth0 -c 1000 -w - | intsink verify --in - --json | jq .different`,
		Args: cli.FlagsOnly("in"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if config != "" {
				c, err := cli.LoadConfigElsewhere(config)
				if err != nil {
					return err
				}
				o.Kinds = &c.INT
			}
			return verify.Run(cmd.OutOrStdout(), cmd.ErrOrStderr(), &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.In, "in", "", "capture to read (pcap or pcapng, Ethernet, also gzipped); -: standard input")
	f.StringVar(&config, "config", "", "configuration (a file, or a folder of files *.hcl): only the kinds of INT that it reads; \"\": all kinds")
	f.IntVar(&o.Limit, "limit", 1000, "packets of the capture that are tried; 0: all")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of everything random in the INT")
	f.BoolVar(&o.JSON, "json", false, "one JSON object instead of a page")
	return cmd
}
