// Flags and help of intsink doctor.

package command

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/doctor"
)

func newDoctorCommand() *cobra.Command {
	var path string
	var fix bool
	cmd := &cobra.Command{
		Use:   "doctor --config FILE [--fix]",
		Short: "Look for what is wrong or slow on this machine",
		Long: `Look at the machine that a configuration is for: hugepages, locked memory, isolation
and siblings of the workers' CPUs, governor, irqbalance, clock source and what keeps the
clock right, drivers, IOMMU, PCIe lanes and NUMA node of NICs, MTU, link and offloads of
kernel interfaces, the way to collectors. Where intsink.service is installed, its limits
count, not those of this shell, and its user must be able to open the files of VFIO.
Each finding comes with the command that mends it; --fix prints only these. Nothing is
changed, and the sink may run meanwhile: each collector that the kernel sends to gets one
empty datagram.

Exit codes: 0 no fault, 1 a fault, or the configuration is not valid, 2 wrong usage.`,
		Example: `  intsink doctor --config /etc/intsink/intsink.hcl
  intsink doctor --config /etc/intsink/intsink.hcl --fix > mend.sh`,
		Args: cli.FlagsOnly("config"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cli.LoadConfigElsewhere(path)
			if err != nil {
				return err
			}
			return doctor.Run(cmd.OutOrStdout(), doctor.ThisMachine(), c, fix)
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "configuration: a file, or a folder of files *.hcl")
	cmd.Flags().BoolVar(&fix, "fix", false, "print the commands only")
	cmd.MarkFlagRequired("config")
	return cmd
}
