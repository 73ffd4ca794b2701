// main of intsink-collect: commands collect, decode and version without DPDK.

// Command intsink-collect receives telemetry reports and shows them: `collect` and
// `decode` of intsink, for machines without DPDK.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

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
in them to Kafka, ClickHouse, files and Prometheus.

Exit codes: 0 success, 1 the command failed, 2 wrong usage.`,
		Example: `  intsink-collect collect --config /etc/intsink/collect.hcl
  intsink-collect decode reports.pcap`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(collect.NewCommand(version), decode.NewCommand(), newVersionCommand(), cli.NewManCommand(root))
	cli.Prepare(root)
	return root
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of intsink-collect, of the Go that compiled it, and its platform.",
		Example: "  intsink-collect version",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "intsink-collect %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH); err != nil {
				return cli.Failed(err)
			}
			return nil
		},
	}
}

func main() {
	err := newRootCommand().Execute()
	if err == nil {
		return
	}
	code := 2 // wrong usage, unless a command says otherwise
	var exit cli.ExitError
	if errors.As(err, &exit) {
		code, err = exit.Code, exit.Err
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "intsink-collect:", err)
	}
	os.Exit(code)
}
