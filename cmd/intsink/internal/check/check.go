// Run of check: prints diagnostics and a summary of ports, watches, markings and memory.

package check

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/conf"
	"intsink/flows"
)

// Machine says whether EAL would take the configuration: wrong is a fault of it, and
// cannot is why this machine cannot run it.
type Machine func(*conf.Config) (wrong, cannot error)

// Options are the flags of check.
type Options struct {
	Dump         bool // print the effective configuration in place of a summary
	Strict       bool // what is wrong with the world, not with the text, is an error, too
	WithoutHosts bool // look up no host names of collectors
}

// Run validates the configuration at path. Diagnostics go to stderr, and to stdout a
// summary, or with Dump the effective configuration.
func Run(stdout, stderr io.Writer, path string, o Options, machine Machine) error {
	load := conf.Load
	if o.WithoutHosts {
		load = conf.LoadWithoutHosts
	}
	c, diags := load(path)
	cli.Diagnose(stderr, diags)
	if c == nil {
		return cli.NotValid(path, diags)
	}
	if c.Node.ID == 0 && len(c.Collectors) > 0 && !o.WithoutHosts { // not of one that runs so
		fmt.Fprintf(stderr, "%s: warning: node: id is 0, as that of every sink whose file leaves it out: collectors may take two of them for one; write node { id = N }, another N for each sink\n", path)
	}
	for _, text := range exposed(path, c) {
		fmt.Fprintf(stderr, "%s: warning: %s\n", path, text)
	}
	wrong, cannot := machine(c)
	if wrong != nil {
		return cli.Failed(fmt.Errorf("%s is not valid: %w", path, wrong))
	}
	if away := unresolved(c); o.Strict && away != "" {
		return cli.Failed(fmt.Errorf("%s: with --strict: no address for %s", path, away))
	}
	if o.Strict && cannot != nil {
		return cli.Failed(fmt.Errorf("%s: with --strict: this machine cannot run it: %w", path, cannot))
	}
	if cannot != nil {
		fmt.Fprintf(stderr, "%s: warning: this machine cannot run it: %v\n", path, cannot)
	}
	var err error
	if o.Dump {
		_, err = stdout.Write(c.Dump())
	} else {
		_, err = io.WriteString(stdout, path+" is valid\n"+checkSummary(c))
	}
	if err != nil {
		return cli.Failed(err)
	}
	return nil
}

// unresolved are the host names of collectors that have no address; "": all have.
func unresolved(c *conf.Config) string {
	var all []string
	for i := range c.Collectors {
		if col := &c.Collectors[i]; !col.Address.IsValid() {
			all = append(all, col.Endpoint())
		}
	}
	return strings.Join(all, ", ")
}

// checkSummary says in a few lines what the configuration amounts to.
func checkSummary(c *conf.Config) string {
	var b strings.Builder
	line := func(what string, parts []string) {
		if len(parts) == 0 {
			parts = []string{"none"}
		}
		fmt.Fprintf(&b, "%-11s %s\n", what, strings.Join(parts, "; "))
	}
	var links, taps, watches, collectors []string
	for _, l := range c.Links {
		links = append(links, fmt.Sprintf("%s: %s -> %s", l.Name, l.Network, l.Host))
	}
	for _, t := range c.Taps {
		taps = append(taps, fmt.Sprintf("%s: %s", t.Name, t.Port))
	}
	for _, w := range c.Watches {
		watches = append(watches, watchSummary(&w))
	}
	for _, col := range c.Collectors {
		by := ""
		if col.Port != "" {
			by = " by port " + col.Port
		}
		collectors = append(collectors, fmt.Sprintf("%s: %s%s", col.Name, col.Endpoint(), by))
	}
	line("links", links)
	if len(taps) > 0 {
		line("taps", taps)
	}
	var lcores []string
	for _, l := range c.DPDK.Lcores {
		lcores = append(lcores, strconv.Itoa(l))
	}
	line("workers", []string{fmt.Sprintf("%d, lcores %s", len(lcores), strings.Join(lcores, ","))})
	line("INT", allMarkings(c))
	line("watches", watches)
	line("collectors", collectors)
	line("reports", []string{shows(&c.Report)})
	workers := len(c.DPDK.Lcores)
	line("memory", []string{
		fmt.Sprintf("flows about %s (%d x %d x %d bytes)", cli.Size(workers*c.Flows.Places()*flows.Bytes), workers, c.Flows.Places(), flows.Bytes),
		fmt.Sprintf("up to %s more when all have events (%d bytes)", cli.Size(workers*c.Flows.Places()*flows.SideBytes), flows.SideBytes),
		fmt.Sprintf("mbufs about %s (%d x %d bytes)", cli.Size(c.DPDK.Mbufs*c.DPDK.MbufBytes()), c.DPDK.Mbufs, c.DPDK.MbufBytes()),
		fmt.Sprintf("recorder up to %s (%d x %s)", cli.Size(workers*int(c.Recorder.Memory)), workers, cli.Size(int(c.Recorder.Memory))),
	})
	line("start-up", []string{startUp(flows.StartTime(workers * c.Flows.Places()))})
	return b.String()
}

// startUp describes how long the flow tables take to map, as measured on a small part.
func startUp(d time.Duration) string {
	if d < 100*time.Millisecond {
		return "less than 0.1 s for the flow tables, by a sample"
	}
	return fmt.Sprintf("at least %.1f s for the flow tables, by a sample", d.Seconds())
}

func watchSummary(w *conf.Watch) string {
	what := cli.Count(len(w.Events), "event")
	if w.Match == nil {
		what = "everything, " + what
	}
	if w.Sample > 0 {
		what += fmt.Sprintf(", one %s in %d sampled", w.SampleBy, w.Sample)
	}
	return fmt.Sprintf("%s: %s", w.Name, what)
}

// shows says what reports show of a packet, and of how many hops.
func shows(r *conf.Report) string {
	switch n := r.Fragment; n {
	case conf.WholeINT:
		return "the headers and all INT of a packet, up to 1020 bytes"
	case 0:
		return "nothing of a packet"
	default:
		const front, hop = 20 + 8 + 4 + 12, 20 // IPv4, UDP, shim, INT-MD header; five values of four bytes
		return fmt.Sprintf("%d bytes of a packet: over IPv4 and UDP, %d hops of %d bytes each; fragment = \"int\" shows all", n, max(n-front, 0)/hop, hop)
	}
}

// allMarkings says what marks a packet as INT, on links and taps that have their own int block, too.
func allMarkings(c *conf.Config) []string {
	out := markings(&c.INT)
	own := func(name string, x *conf.INT) {
		if x != nil {
			out = append(out, name+": "+strings.Join(markings(x), ", "))
		}
	}
	for i := range c.Links {
		own(c.Links[i].Name, c.Links[i].INT)
	}
	for i := range c.Taps {
		own(c.Taps[i].Name, c.Taps[i].INT)
	}
	return out
}

// markings says what marks a packet as INT.
func markings(c *conf.INT) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if c.UDPPort != nil {
		add("UDP port %d", *c.UDPPort)
	}
	for _, d := range c.DSCP {
		if d.Restore != nil {
			add("DSCP %d of mask %d, restored to %d", d.Value, d.Mask, *d.Restore)
		} else {
			add("DSCP %d of mask %d", d.Value, d.Mask)
		}
	}
	if c.ProbeMarker != nil {
		add("probe marker 0x%016x", *c.ProbeMarker)
	}
	if c.GREProtocol != nil {
		add("GRE protocol 0x%04x", *c.GREProtocol)
	}
	if c.VXLANGPE != nil {
		add("VXLAN-GPE port %d next protocol %d", c.VXLANGPE.Port, c.VXLANGPE.NextProtocol)
	}
	if c.Geneve != nil {
		add("Geneve port %d option class 0x%04x", c.Geneve.Port, c.Geneve.OptionClass)
	}
	out = append(out, c.Formats.Marks()...)
	if c.Match != nil {
		for _, r := range c.Match.VLAN {
			add("in VLAN %s only", r)
		}
		for _, p := range c.Match.Prefix {
			add("from or to %s only", p)
		}
	}
	return out
}
