// main of intsink-collect: commands collect, decode and version without DPDK.

// Command intsink-collect receives telemetry reports and shows them: `collect` and
// `decode` of intsink, for machines without DPDK.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/collect"
	"intsink/cmd/internal/decode"
)

// version is set by the build (-ldflags "-X main.version=...").
var version = "devel"

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "intsink-collect",
		Short: "Collector of INT telemetry reports",
		Long: `intsink-collect receives the Telemetry Reports of INT sinks and delivers what is
in them to Kafka, ClickHouse, collectors of IPFIX, files and Prometheus.

Exit codes: 0 success, 1 the command failed, 2 wrong usage.`,
		Example: `  intsink-collect collect --config /etc/intsink/collect.hcl
  intsink-collect decode reports.pcap`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(collect.NewCommand(version), decode.NewCommand(), cli.NewVersionCommand("intsink-collect", version), cli.NewManCommand(root))
	cli.Prepare(root)
	return root
}

func main() { os.Exit(cli.ExitCode(os.Stderr, "intsink-collect", newRootCommand().Execute())) }
