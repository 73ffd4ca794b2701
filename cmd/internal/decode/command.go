// Declares the flags of decode, makes the decoder that they describe, and runs over the
// source.

package decode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/sinkconf"
	"intsink/conf"
	"intsink/engine/wire/inthdr"
	"intsink/exporters/record"
)

// decodeOptions are the flags of decode.
type decodeOptions struct {
	config   string
	format   string
	listen   string
	port     uint16
	count    int
	intPorts []uint
	intDSCP  string
	intProbe string
	layout   string
}

// NewCommand returns the command decode.
func NewCommand() *cobra.Command {
	var o decodeOptions
	cmd := &cobra.Command{
		Use:   "decode [--format text|json|record] FILE.pcap | - | --listen ADDR",
		Short: "Show telemetry reports",
		Long: `Show the telemetry reports (versions 2.0, 1.0 and 0.5) in a capture, or as they
arrive on a UDP port: as text, or as one JSON object per individual report, one
per line. --format record shows what a collector stores, docs/records.md, also of
what was lost; --format json the same of reports alone, and with it the headers
as they stand on the wire, docs/reports.md. Hops are in the order in which the
packet passed them. With --config INT is found where that sink's file says:
ports, marks, tunnels, domains; and nodes have the units and clocks that it says.

Captures are pcap or pcapng, also gzipped, of Ethernet, raw IP, Linux cooked or
loopback; - is standard input.
Without --port every UDP payload that reads as a sound report is taken for one.
With --port, and with --listen, every datagram counts as a report, and a bad one
is shown as far as it can be read.

Totals, lost sequence numbers and what could not be decoded go to stderr.

Exit codes: 0 success, 1 nothing could be decoded, 2 wrong usage.`,
		Example: `  intsink decode reports.pcap
  intsink decode --port 8555 reports.pcap | jq .hops
  intsink decode --listen 0.0.0.0:8555 --count 10
  tcpdump -i any -U -w - udp port 8555 | intsink decode --format text -
  intsink decode --config intsink.hcl --format record reports.pcap`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (o.listen != "") || len(args) > 1 {
				return errors.New("decode needs either one capture file, - for standard input, or --listen ADDR")
			}
			for _, flag := range []string{"int-port", "int-dscp", "int-probe-marker"} {
				if o.config != "" && cmd.Flags().Changed(flag) {
					return fmt.Errorf("--%s: the file of --config says where INT is; leave one of them out", flag)
				}
			}
			d, err := newReportPrinter(cmd.OutOrStdout(), cmd.ErrOrStderr(), &o)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return d.run(ctx, &o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.config, "config", "", "configuration of a sink: where INT is in the reported packets, and what nodes mean")
	f.StringVar(&o.format, "format", "json", "record: what collectors store, one object per line; json: reports alone, with their headers as on the wire; text: a few lines per report")
	f.StringVar(&o.listen, "listen", "", "receive reports on this UDP address, such as 0.0.0.0:8555")
	f.Uint16Var(&o.port, "port", 0, "UDP destination port of the reports in the capture; 0 tries every UDP packet")
	f.IntVar(&o.count, "count", 0, "stop after this many reports; 0 never stops")
	f.UintSliceVar(&o.intPorts, "int-port", []uint{5000, 555}, "UDP destination ports of INT in the reported packets")
	f.StringVar(&o.intDSCP, "int-dscp", "", "DSCP of INT in the reported packets, as VALUE or VALUE/MASK")
	f.StringVar(&o.intProbe, "int-probe-marker", "", "probe marker of INT in the reported packets, such as 0x0102030405060708")
	f.StringVar(&o.layout, "report-layout", standardLayout, "RepMdBits of reports of version 1.0: standard, or 2018: the proposal of January 2018")
	cmd.RegisterFlagCompletionFunc("report-layout", cobra.FixedCompletions([]string{standardLayout, layout2018}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"json", "text", "record"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// Values of --report-layout.
const (
	standardLayout = string(conf.StandardLayout)
	layout2018     = string(conf.Layout2018)
)

// newReportPrinter checks the flags; its errors are wrong usage, but those of --config.
func newReportPrinter(stdout, stderr io.Writer, o *decodeOptions) (*reportPrinter, error) {
	if o.format != "text" && o.format != "json" && o.format != "record" {
		return nil, fmt.Errorf("--format %q: must be text, json or record", o.format)
	}
	if o.layout != standardLayout && o.layout != layout2018 {
		return nil, fmt.Errorf("--report-layout %q: must be standard or 2018", o.layout)
	}
	if o.count < 0 {
		return nil, fmt.Errorf("--count %d: must be 0 or more", o.count)
	}
	if o.listen != "" && o.port != 0 {
		return nil, errors.New("--port is for captures: --listen says which port reports arrive on")
	}
	records, err := o.records()
	if err != nil {
		return nil, err
	}
	d := newPrinter(stdout, stderr, records)
	d.format, d.limit = o.format, o.count
	d.strict = o.listen == "" && o.port == 0
	if o.config == "" && o.intDSCP == "" {
		d.guess = newGuess()
	}
	return d, nil
}

// records returns what records are made from, by --config or the other flags.
func (o *decodeOptions) records() (r record.Options, err error) {
	if o.config != "" {
		c, err := cli.LoadConfigWithoutHosts(o.config)
		if err != nil {
			return r, err
		}
		return record.Options{
			INT: sinkconf.Readers(c), Models: sinkconf.NodeModels(c.NodeModels),
			Layout2018: o.layout == layout2018 || c.Report.Layout == conf.Layout2018,
		}, nil
	}
	r.Layout2018 = o.layout == layout2018
	config := record.DefaultINT()[0]
	if err := o.marks(&config); err != nil {
		return r, err
	}
	for _, p := range o.intPorts {
		if p == 0 || p > 65535 {
			return r, fmt.Errorf("--int-port %d: must be 1 to 65535", p)
		}
		port := uint16(p)
		config.UDPPort = &port
		r.INT = append(r.INT, config)
	}
	return r, nil
}

// marks reads what else marks INT.
func (o *decodeOptions) marks(c *inthdr.Config) error {
	if o.intProbe != "" {
		marker, err := strconv.ParseUint(o.intProbe, 0, 64)
		if err != nil || marker == 0 {
			return fmt.Errorf("--int-probe-marker %q: must be a number of 64 bits, not 0", o.intProbe)
		}
		c.ProbeMarker = &marker
	}
	if o.intDSCP == "" {
		return nil
	}
	value, mask, masked := strings.Cut(o.intDSCP, "/")
	if !masked {
		mask = "63"
	}
	v, err1 := strconv.ParseUint(value, 0, 6)
	m, err2 := strconv.ParseUint(mask, 0, 6)
	if err1 != nil || err2 != nil || m == 0 {
		return fmt.Errorf("--int-dscp %q: must be VALUE or VALUE/MASK, both at most 63, the mask not 0", o.intDSCP)
	}
	c.DSCP = []inthdr.DSCP{{Value: uint8(v), Mask: uint8(m)}}
	return nil
}

// run decodes the capture or what arrives, and prints the totals.
func (d *reportPrinter) run(ctx context.Context, o *decodeOptions, args []string) error {
	var err error
	if o.listen != "" {
		err = d.listen(ctx, o.listen)
	} else {
		err = d.readCapture(ctx, args[0], o.port)
	}
	d.streams.end()
	if d.format == "record" {
		d.printStats()
	}
	if flushErr := d.out.Flush(); err == nil {
		err = flushErr
	}
	if err == nil || d.seen > 0 {
		d.printTotals()
	}
	nothing := d.reports == 0 && (d.undecodable > 0 || o.listen == "" && d.seen > 0)
	if err == nil && nothing {
		err = d.nothing()
	}
	if err != nil {
		return cli.Failed(err)
	}
	return nil
}

// nothing says that there was no report, and what to do about it.
func (d *reportPrinter) nothing() error {
	switch {
	case d.withINT > 0:
		return errors.New("no telemetry report is in it: it is a capture of packets with INT, which intsink plan and intsink replay read")
	case d.strict:
		return errors.New("no telemetry report could be decoded; with --port, bad reports are shown as far as they can be read")
	}
	return errors.New("no telemetry report could be decoded")
}
