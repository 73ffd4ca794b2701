// Flags and help of intsink gen.

package command

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/gen"
)

func newGenCommand() *cobra.Command {
	f := &gen.Flags{}
	cmd := &cobra.Command{
		Use:   "gen --out FILE.pcap | --live IN,OUT",
		Short: "Generate INT traffic: a capture, or live between two interfaces",
		Long: `With --out, write a capture of INT packets: --count packets of --flows flows,
each with the metadata of --hops hops (node id, interfaces, hop latency, queue,
tx utilization: 20 bytes a hop). The same flags and seed give the same file to
the byte. --original writes the packets as they were before INT, which is what a
sink must give back.

With --timestamps the hops also write when they received and sent the packet: 36
bytes a hop, or 28 with --format 1, which has the lower 32 bits. Times lead up to
the packet's own: hop latency in each hop, --link-latency on each link between
two hops and from the last one to the sink.

With --live, be an INT source and --hops transit hops between two interfaces:
IPv4 and IPv6 packets from IN that --encap can take go to OUT with INT,
everything else and the other direction pass unchanged. What the kernel leaves to
a device is done first: checksums are completed, joined frames cut. OUT's MTU must
have room for INT. Ends on SIGTERM or SIGINT and prints what it did.

--encap is where INT stands:` + gen.EncapHelp() + `

Tunnels have Ethernet inside, GRE and IP in IP have IP; one tunnel for each flow.
--ipv6 is for the inner and the outer header, --vlan for the outermost frame.

--type:   md           hops write their metadata into the packet (INT-MD)
          mx           hops write nothing, they send reports (INT-MX)
          destination  two words that are for the sink alone
--format: 2 (2.0, 2.1), 1 (INT 1.0: dscp, probe, vxlan-gpe, geneve), 2016 (June
          2016: vxlan-gpe, geneve)
--tunnel: a tunnel around packets of udp, udp-new, dscp and probe: INT stands in
          the inner packet`,
		Example: `  intsink gen --out int.pcap --count 10000 --flows 100 --original plain.pcap
  intsink gen --out dscp.pcap --encap dscp --proto tcp --ipv6 --hops 8 --size 512
  intsink gen --out geneve.pcap --encap geneve --hops 5 --then-destination
  intsink gen --out inner.pcap --encap dscp --tunnel vxlan
  intsink gen --out links.pcap --flows 5 --pps 200 --timestamps --link-step-every 500
  intsink gen --live veth-in,veth-out --hops 3`,
		Args: cli.FlagsOnly("out"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Given = cmd.Flags().Changed
			return gen.Run(cmd.OutOrStdout(), cmd.ErrOrStderr(), f)
		},
	}
	f.Register(cmd)
	return cmd
}
