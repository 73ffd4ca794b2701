// The root command: its subcommands, groups and shell completion.

// Package command lists the subcommands of intsink, and has the flags, the help and one call of each that is not in the folder
// of what it is about.
package command

import (
	"os"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	collectcmd "intsink/cmd/internal/collect"
	"intsink/cmd/internal/decode"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/cmd/intsink/internal/gen"
	"intsink/cmd/intsink/internal/livecapture"
	"intsink/cmd/intsink/internal/mitigation"
)

// New returns intsink with all of its subcommands.
func New(version string) *cobra.Command {
	root := &cobra.Command{
		Use:   "intsink",
		Short: "INT sink: strips in-band telemetry, watches every flow, reports what matters",
		Long: `intsink sits inline at the edge of an INT domain. It removes the INT headers
from packets, watches paths and latencies of every flow, and sends Telemetry
Reports to collectors when something happened.

Exit codes: 0 success, 1 the command failed, 2 wrong usage.`,
		Example: `  intsink check --config /etc/intsink/intsink.hcl
  intsink run --config /etc/intsink/intsink.hcl
  intsink replay --config intsink.hcl --in in.pcap --out out.pcap --reports reports.pcap
  intsink decode reports.pcap
  intsink why tcp:10.0.0.1:1024-10.1.0.1:80`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		newRunCommand(version),
		newCheckCommand(),
		newReplayCommand(),
		newPlanCommand(),
		decode.NewCommand(),
		collectcmd.NewCommand(version),
		newGenCommand(),
		newWhyCommand(),
		newDoctorCommand(),
		newReloadCommand(),
		newConfirmCommand(),
		newUpgradeCommand(),
		newConfigCommand(),
		failopen.NewCommand(),
		mitigation.NewCommand(),
		livecapture.NewCommand(),
		newVerifyCommand(),
		newProblemsCommand(),
		newIncidentCommand(),
		newStatusCommand(),
		newHealthCommand(),
		newTopCommand(),
		newPathsCommand(),
		newReportBugCommand(version),
		cli.NewVersionCommand("intsink", version),
	)
	root.AddCommand(cli.NewManCommand(root))
	cli.Complete(root, map[string][]string{
		"sort":  {"packets", "bytes", "last_seen", "latency", "hop_latency", "lost", "ecn_marked"},
		"encap": gen.EncapNames(),
		"proto": {"udp", "tcp"},
		"type":  {"md", "mx", "destination"},
	})
	cli.Prepare(root)
	return root
}

// Main runs intsink as the process that it is in, and returns its exit code.
func Main(version string) int { return cli.ExitCode(os.Stderr, "intsink", New(version).Execute()) }
