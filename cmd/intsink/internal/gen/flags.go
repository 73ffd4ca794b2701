// Flags of gen: declares and checks them, chooses between capture and live.

package gen

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
)

// Flags are the flags of both kinds of gen.
type Flags struct {
	out, original, live  string
	Given                func(flag string) bool // in the command
	flows, hops, size    int
	count, seed          uint64
	pps                  float64
	encap, proto         string
	kind, format         string
	thenDestination      bool
	tunnel               string
	ipv6                 bool
	vlan                 uint16
	udpPort              uint16
	dscp                 uint8
	marker               uint64
	plain                float64
	pathEvery, stepEvery uint64
	timestamps           bool
	linkLatency          time.Duration
	linkStepEvery        uint64
	latencyStepAfter     string
	pathChangeAfter      string
	busyAfter            string
	busyFor              time.Duration
}

// Register adds the flags to cmd.
func (f *Flags) Register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "capture to write")
	fl.StringVar(&f.original, "original", "", "capture of the packets without INT to write besides")
	fl.StringVar(&f.live, "live", "", "two interfaces, IN,OUT: insert INT between them")
	fl.IntVar(&f.flows, "flows", 1000, "number of flows")
	fl.IntVar(&f.hops, "hops", 3, "hops that wrote metadata, 0 to 12; Geneve 0 to 5, with --timestamps 0 to 3")
	fl.IntVar(&f.size, "size", 138, "bytes of a frame, INT included; more by default where headers and INT need more")
	fl.Uint64Var(&f.count, "count", 1000, "number of packets")
	fl.StringVar(&f.encap, "encap", "udp", encapNames(anyEncap))
	fl.StringVar(&f.kind, "type", "md", "INT type: md, mx or destination")
	fl.BoolVar(&f.thenDestination, "then-destination", false, "a Destination header follows the MD or MX header")
	fl.StringVar(&f.format, "format", "2", "INT version: 2, 1 or 2016")
	fl.StringVar(&f.tunnel, "tunnel", "none", "tunnel around the packet with INT: none, vxlan, gre, geneve or ipip")
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
	fl.BoolVar(&f.timestamps, "timestamps", false, "hops write ingress and egress timestamps, nanoseconds since 1970")
	fl.DurationVar(&f.linkLatency, "link-latency", 5*time.Microsecond, "time on each link, with --timestamps; it jitters by up to 5 %")
	fl.Uint64Var(&f.linkStepEvery, "link-step-every", 0, "every N packets the link from hop 1 to hop 2 gets 100 us slower; 0: never")
	fl.StringVar(&f.latencyStepAfter, "latency-step-after", "", "after this time hop 2 gets 500 us slower, for good")
	fl.StringVar(&f.busyAfter, "busy-after", "", "after this time the interface of hop 2 is busy: within a second its load rises from 20 to 97 per cent")
	fl.DurationVar(&f.busyFor, "busy-for", 0, "with --busy-after: for so long, then its load falls as it rose, and rises again after as long; 0s: for good")
	fl.StringVar(&f.pathChangeAfter, "path-change-after", "", "live: after this time packets leave hop 1 by another interface")
}

// Run writes the capture, or inserts INT live until a signal ends it. Errors of the flags
// are wrong usage.
func Run(stdout, stderr io.Writer, f *Flags) error {
	if (f.out == "") == (f.live == "") {
		return errors.New("gen needs either --out FILE.pcap or --live IN,OUT")
	}
	if err := f.check(); err != nil {
		return err
	}
	if f.kind != "md" {
		f.hops = 0
	}
	var err error
	if f.live != "" {
		err = genLive(stdout, f)
	} else {
		err = genCapture(stdout, stderr, f)
	}
	var exit cli.ExitError
	if err == nil || errors.As(err, &exit) {
		return err
	}
	return cli.Failed(err)
}

// longestCapture is the time between the first packet and the last, in seconds: the
// times of a capture are good until 2106.
const longestCapture = 1e9

func (f *Flags) check() error {
	for name, after := range map[string]string{"latency-step-after": f.latencyStepAfter, "path-change-after": f.pathChangeAfter, "busy-after": f.busyAfter} {
		if _, err := optionalDuration(name, after); err != nil {
			return err
		}
	}
	switch {
	case f.hops < 0 || f.hops > 12:
		return fmt.Errorf("--hops %d: must be 0 to 12", f.hops)
	case f.flows < 1 || f.flows > 1<<24:
		return fmt.Errorf("--flows %d: must be 1 to 16777216", f.flows)
	case f.proto != "udp" && f.proto != "tcp":
		return fmt.Errorf("--proto %q: must be udp or tcp", f.proto)
	case f.count == 0:
		return errors.New("--count 0: must be 1 or more")
	case !(f.pps >= 0.001 && f.pps <= 1e9):
		return fmt.Errorf("--pps %g: must be 0.001 to 1000000000", f.pps)
	case float64(f.count)/f.pps > longestCapture:
		return fmt.Errorf("--count %d with --pps %g: the capture would last %.0f years, at most 31 can be: ask for fewer packets, or more a second",
			f.count, f.pps, float64(f.count)/f.pps/86400/365)
	case !(f.plain >= 0 && f.plain <= 1):
		return fmt.Errorf("--plain %g: must be 0 to 1", f.plain)
	case f.vlan > 4094:
		return fmt.Errorf("--vlan %d: must be 1 to 4094, or 0 for no tag", f.vlan)
	case f.dscp < 1 || f.dscp > 63:
		return fmt.Errorf("--dscp %d: must be 1 to 63", f.dscp)
	case f.udpPort == 0:
		return errors.New("--udp-port 0: must be 1 to 65535")
	case f.marker == 0:
		return errors.New("--probe-marker 0: must not be 0: payloads that begin with zeros are common, and no sink takes that for a marker")
	case f.Given("size") && (f.size < 1 || f.size > 65535):
		return fmt.Errorf("--size %d: must be the bytes of headers, INT and payload, at most 65535", f.size)
	}
	if err := f.checkKind(); err != nil {
		return err
	}
	if err := f.checkINT(); err != nil {
		return err
	}
	if err := f.checkEvents(); err != nil {
		return err
	}
	if err := f.checkTimestamps(); err != nil {
		return err
	}
	return cli.Distinct(cli.FileFlag{Flag: "out", Path: f.out}, cli.FileFlag{Flag: "original", Path: f.original})
}

// captureFlags are the flags that make packets for a capture. With --live packets come from an
// interface.
var captureFlags = []string{"flows", "size", "count", "proto", "vlan", "pps", "plain", "path-change-every", "latency-step-every", "link-step-every", "busy-after", "busy-for"}

// checkKind checks the flags that only one kind of gen has.
func (f *Flags) checkKind() error {
	if f.live == "" {
		if f.pathChangeAfter != "" {
			return errors.New("--path-change-after needs --live: a capture has --path-change-every")
		}
		return nil
	}
	if in, out, ok := strings.Cut(f.live, ","); !ok || in == "" || out == "" || in == out {
		return fmt.Errorf("--live %q: must be two different interfaces, IN,OUT", f.live)
	}
	if f.original != "" {
		return errors.New("--original needs --out: live, the originals are what came from IN")
	}
	for _, flag := range captureFlags {
		if f.Given(flag) {
			return fmt.Errorf("--%s needs --out: live, packets are those that come from IN", flag)
		}
	}
	return nil
}

// checkEvents checks that the hops are there whose values are to change.
func (f *Flags) checkEvents() error {
	switch {
	case f.kind != "md":
		return nil // checkINT has refused events
	case f.pathEvery|f.stepEvery != 0 && f.hops < 1:
		return errors.New("--path-change-every and --latency-step-every are of the first hop: --hops must be 1 or more")
	case f.latencyStepAfter != "" && f.hops < 2:
		return errors.New("--latency-step-after is of hop 2: --hops must be 2 or more")
	case f.busyAfter != "" && f.hops < 2:
		return errors.New("--busy-after is of hop 2: --hops must be 2 or more")
	case f.Given("busy-for") && (f.busyAfter == "" || f.busyFor < 0):
		return fmt.Errorf("--busy-for %v: must be 0s or more, and needs --busy-after", f.busyFor)
	case f.pathChangeAfter != "" && f.hops < 1:
		return errors.New("--path-change-after is of hop 1: --hops must be 1 or more")
	}
	return nil
}
