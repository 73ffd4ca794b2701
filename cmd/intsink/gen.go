package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"intsink/bench/intgen"
)

// genFlags are the flags of both kinds of gen.
type genFlags struct {
	out, original, live  string
	flows, hops, size    int
	sizeGiven            bool
	count, seed          uint64
	pps                  float64
	encap, proto         string
	ipv6                 bool
	vlan                 uint16
	udpPort              uint16
	dscp                 uint8
	marker               uint64
	plain                float64
	pathEvery, stepEvery uint64
	latencyStepAfter     string
	pathChangeAfter      string
}

func newGenCommand() *cobra.Command {
	f := &genFlags{}
	cmd := &cobra.Command{
		Use:   "gen --out FILE.pcap | --live IN,OUT",
		Short: "Generate INT traffic: a capture, or live between two interfaces",
		Long: `With --out, write a capture of INT-MD 2.1 packets: --count packets of --flows
flows, each with the metadata of --hops hops (node id, interfaces, hop latency,
queue, tx utilization: 20 bytes a hop). The same flags and seed give the same
file to the byte. --original writes the packets as they were before INT, which
is what a sink must give back.

With --live, be an INT source and --hops transit hops between two interfaces:
IPv4 and IPv6 packets from IN go to OUT with INT, everything else and the other
direction pass unchanged. Offloads of both interfaces must be off, and OUT's MTU
must have room for INT. Ends on SIGTERM or SIGINT and prints what it did.

--encap: udp     INT's UDP port; UDP keeps its header (NPT 1), TCP gets a new one (NPT 2)
         udp-new a new UDP header in front of any L4 header (NPT 2)
         dscp    marked by DSCP --dscp, over TCP and UDP
         probe   marked by the 64-bit --probe-marker, over TCP and UDP`,
		Example: `  intsink gen --out int.pcap --count 10000 --flows 100 --original plain.pcap
  intsink gen --out dscp.pcap --encap dscp --proto tcp --ipv6 --hops 8 --size 512
  intsink gen --live veth-in,veth-out --hops 3`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.sizeGiven = cmd.Flags().Changed("size")
			return gen(cmd.OutOrStdout(), f)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *genFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "capture to write")
	fl.StringVar(&f.original, "original", "", "capture of the packets without INT to write besides")
	fl.StringVar(&f.live, "live", "", "two interfaces, IN,OUT: insert INT between them")
	fl.IntVar(&f.flows, "flows", 1000, "number of flows")
	fl.IntVar(&f.hops, "hops", 3, "hops that wrote metadata, 0 to 12")
	fl.IntVar(&f.size, "size", 138, "bytes of a frame, INT included; more by default where headers and INT need more")
	fl.Uint64Var(&f.count, "count", 1000, "number of packets")
	fl.StringVar(&f.encap, "encap", "udp", "udp, udp-new, dscp or probe")
	fl.StringVar(&f.proto, "proto", "udp", "L4 protocol of the original packets: udp or tcp")
	fl.BoolVar(&f.ipv6, "ipv6", false, "IPv6 instead of IPv4")
	fl.Uint16Var(&f.vlan, "vlan", 0, "VLAN id; 0: no tag")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of everything random")
	fl.Float64Var(&f.pps, "pps", 100000, "packets per second of the capture's times")
	fl.Uint16Var(&f.udpPort, "udp-port", 5000, "INT's UDP destination port")
	fl.Uint8Var(&f.dscp, "dscp", 23, "DSCP that marks INT")
	fl.Uint64Var(&f.marker, "probe-marker", 0x0102030405060708, "probe marker")
	fl.Float64Var(&f.plain, "plain", 0, "share of packets without INT, 0 to 1")
	fl.Uint64Var(&f.pathEvery, "path-change-every", 0, "every N packets one flow moves to a path of its own; 0: never")
	fl.Uint64Var(&f.stepEvery, "latency-step-every", 0, "every N packets one flow's first hop gets 100 us slower; 0: never")
	fl.StringVar(&f.latencyStepAfter, "latency-step-after", "", "live: after this time hop 2 gets 500 us slower")
	fl.StringVar(&f.pathChangeAfter, "path-change-after", "", "live: after this time packets leave hop 1 by another interface")
}

func gen(stdout io.Writer, f *genFlags) error {
	if (f.out == "") == (f.live == "") {
		return errors.New("gen needs either --out FILE.pcap or --live IN,OUT")
	}
	if err := f.check(); err != nil {
		return err
	}
	var err error
	if f.live != "" {
		err = genLive(stdout, f)
	} else {
		err = genCapture(stdout, f)
	}
	if err != nil {
		return exitError{1, err}
	}
	return nil
}

func (f *genFlags) check() error {
	switch {
	case f.hops < 0 || f.hops > 12:
		return fmt.Errorf("--hops %d: 0 to 12", f.hops)
	case f.flows < 1 || f.flows > 1<<24:
		return fmt.Errorf("--flows %d: 1 to 16777216", f.flows)
	case f.proto != "udp" && f.proto != "tcp":
		return fmt.Errorf("--proto %q: udp or tcp", f.proto)
	case !(f.pps > 0) || math.IsInf(f.pps, 0):
		return fmt.Errorf("--pps %g: more than 0", f.pps)
	case !(f.plain >= 0 && f.plain <= 1):
		return fmt.Errorf("--plain %g: 0 to 1", f.plain)
	case f.vlan > 4094:
		return fmt.Errorf("--vlan %d: 1 to 4094, or 0 for no tag", f.vlan)
	case f.dscp < 1 || f.dscp > 63:
		return fmt.Errorf("--dscp %d: 1 to 63", f.dscp)
	case f.udpPort == 0:
		return errors.New("--udp-port 0: 1 to 65535")
	case f.live == "" && f.latencyStepAfter+f.pathChangeAfter != "":
		return errors.New("--latency-step-after and --path-change-after need --live: a capture has --latency-step-every and --path-change-every")
	}
	if f.live != "" {
		if in, out, ok := strings.Cut(f.live, ","); !ok || in == "" || out == "" || in == out {
			return fmt.Errorf("--live %q: two different interfaces, IN,OUT", f.live)
		}
	}
	if _, err := f.source(); err != nil {
		return err
	}
	return distinct(fileFlag{"out", f.out}, fileFlag{"original", f.original})
}

// source is the INT source that the flags describe.
func (f *genFlags) source() (*intgen.Source, error) {
	s := &intgen.Source{
		UDPPort: f.udpPort, DSCP: f.dscp, Mask: 0x3f, ProbeMarker: f.marker,
		Bitmap: intgen.DefaultBitmap, MaxHops: 12 + f.hops,
	}
	markings := map[string]intgen.Marking{
		"udp": intgen.ByPort, "udp-new": intgen.ByNewUDP, "dscp": intgen.ByDSCP, "probe": intgen.ByProbeMarker,
	}
	m, ok := markings[strings.ToLower(f.encap)]
	if !ok {
		return nil, fmt.Errorf("--encap %q: udp, udp-new, dscp or probe", f.encap)
	}
	s.Marking = m
	return s, nil
}
