// Flags and help of intsink report-bug.

package command

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/bugreport"
)

func newReportBugCommand(version string) *cobra.Command {
	o := bugreport.Options{Version: cli.VersionLine("intsink", version) + "\n"}
	cmd := &cobra.Command{
		Use:   "report-bug [--config FILE | --socket PATH | --url URL [--token-file FILE] [--ca FILE]] [--out FILE]",
		Short: "Collect what a bug report needs into one archive",
		Long: `Collect version, configuration without secrets, status, metrics, what doctor finds, facts
about the machine and the end of the service's log into one tar.gz. It holds no packet
and no flow. A part that cannot be had, because the sink does not answer, say, is
replaced by the reason. Nothing is sent anywhere.

Exit codes: 0 the archive is written, 1 it is not, 2 wrong usage.`,
		Example: `  intsink report-bug --config /etc/intsink/intsink.hcl
  intsink report-bug --config /etc/intsink/intsink.hcl --out - | ssh desk 'cat > bug.tar.gz'`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bugreport.Run(cmd.Context(), os.Stdout, &o, time.Now())
		},
	}
	o.Client.Register(cmd)
	cmd.Flags().StringVar(&o.Out, "out", "", "file to write, - for stdout (default intsink-report-TIME.tar.gz)")
	return cmd
}
