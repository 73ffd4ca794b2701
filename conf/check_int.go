// Checks block int: UDP ports that contradict each other, DSCP marks, versions, bits and
// lengths of domains.

package conf

import (
	"fmt"
	"slices"
	"strings"
)

// checkINTs checks the block int of the file, which may be missing where each link and tap has its own, and those.
func (d checker) checkINTs(c *Config) {
	own := c.INTs()[1:]
	if !d.Has(&c.INT) && (len(own) == 0 || len(own) < len(c.Links)+len(c.Taps)) {
		d.ErrorAt(nil, "there is no int block: it says which packets carry INT, such as int { udp_port = 5000 }")
	}
	if d.Has(&c.INT) && len(own) > 0 && len(own) == len(c.Links)+len(c.Taps) {
		d.WarnAt([]any{&c.INT}, "int: every link and tap has an int block of its own: but for verify, this one does nothing")
	}
	for _, x := range c.INTs() {
		if !d.Has(x) {
			continue
		}
		d.checkINT(x)
		for i := range x.Domains {
			d.checkDomain(&x.Domains[i])
		}
	}
}

func (d checker) checkINT(c *INT) {
	at := []any{c}
	marked := []any{&c.UDPPort, &c.DSCP, &c.ProbeMarker, &c.GREProtocol, &c.VXLANGPE, &c.Geneve}
	formats := c.Formats.all()
	if len(formats) == 0 && !slices.ContainsFunc(marked, d.Has) && !d.Misspelt(c) {
		d.ErrorAt(at, "int: nothing marks INT: set at least one of udp_port, dscp, probe_marker, gre_protocol, vxlan_gpe or geneve, or a block %s", strings.Join(formatBlocks, " or "))
	}
	d.checkDSCP(c)
	for _, f := range formats {
		f.check(d, c)
	}
	if len(c.DSCP) > 0 && c.ProbeMarker != nil {
		d.WarnAt([]any{&c.ProbeMarker}, "int: probe_marker and dscp are both set: INT 2.1 forbids mixing them in one domain")
	}
	if c.UDPPort != nil && len(c.DSCP) > 0 {
		d.WarnAt([]any{&c.UDPPort}, "int: udp_port and dscp are both set: in INT 2.1 (5.7.2) they are alternatives, one for all of a domain; leave out the one that no source writes, or what hosts send so is read as INT")
	}
	if len(c.ProbePorts) > 0 && !d.Has(&c.ProbeMarker) {
		d.WarnAt([]any{&c.ProbePorts}, "int: probe_ports does nothing without probe_marker")
	}
	if m := c.Match; m != nil && len(m.VLAN)+len(m.Prefix) == 0 && !d.Wrong(&m.VLAN) && !d.Wrong(&m.Prefix) {
		d.WarnAt([]any{m}, "int: match says nothing: all packets may carry INT; write vlan or prefix, or leave it out")
	}
	if len(c.Versions) == 0 {
		d.ErrorAt([]any{&c.Versions}, `int: versions is empty: no INT would be taken; the default is ["2"]`)
	}
	d.checkReading(c)
	d.checkINTPorts(c)
	ids := map[uint16]string{}
	for i := range c.Domains {
		x := &c.Domains[i]
		if other, twice := ids[x.ID]; twice && x.ID != 0 {
			d.ErrorAt([]any{&x.ID}, "domain %q: id %d is that of domain %q too; each needs its own", x.Name, x.ID, other)
		}
		ids[x.ID] = x.Name
	}
}

// checkDSCP: each value marks INT once, and what is restored marks none.
func (d checker) checkDSCP(c *INT) {
	for i := range c.DSCP {
		x := &c.DSCP[i]
		if !d.Good(&x.Value) {
			continue
		}
		switch {
		case x.Mask == 0:
			d.ErrorAt([]any{&x.Mask}, "int: dscp: a mask of 0 would take every packet for INT; 63 compares all six bits")
			continue
		case x.Value&^x.Mask != 0:
			d.ErrorAt([]any{&x.Value}, "int: dscp: value %d has bits outside mask %d; did you mean value = %d?", x.Value, x.Mask, x.Value&x.Mask)
			continue
		case x.Value == 0:
			d.WarnAt([]any{&x.Value}, "int: dscp: value 0 of mask %d marks what most hosts send, and the sink's own reports: ordinary payloads are read as INT; take a value that nothing else has", x.Mask)
		}
		same := func(y DSCP) bool { return y.Mask != 0 && (x.Value^y.Value)&x.Mask&y.Mask == 0 }
		if k := slices.IndexFunc(c.DSCP[:i], same); k >= 0 {
			y := &c.DSCP[k]
			d.ErrorAt([]any{&x.Value}, "int: dscp: value %d of mask %d and value %d of mask %d mark the same packets; each DSCP can stand for one value to restore",
				x.Value, x.Mask, y.Value, y.Mask)
		}
		if x.Restore != nil && slices.ContainsFunc(c.DSCP, func(y DSCP) bool { return y.Mask != 0 && y.marks(*x.Restore) }) {
			d.ErrorAt([]any{&x.Restore}, "int: dscp: restore = %d marks INT, too: hosts would get packets that are taken for INT; write the DSCP that the packet had at its source", *x.Restore)
		}
	}
}

// checkVersions: each version stands behind some markings only; one that has none of these is never taken.
func (d checker) checkVersions(c *INT) {
	tunnels := c.VXLANGPE != nil || c.Geneve != nil
	for version, by := range map[string]struct {
		taken bool
		what  string
	}{
		"1": {tunnels || len(c.DSCP) > 0 || c.ProbeMarker != nil, "dscp, probe_marker, vxlan_gpe and geneve"},
		"0": {tunnels, "vxlan_gpe and geneve"},
	} {
		if slices.Contains(c.Versions, version) && !by.taken {
			d.WarnAt([]any{&c.Versions}, `int: versions has "%s", which stands behind %s alone; none of them is set, so none of its INT is taken`, version, by.what)
		}
	}
}

// checkReading checks how INT is read against the versions that are.
func (d checker) checkReading(c *INT) {
	d.checkVersions(c)
	if len(c.Types) == 0 {
		d.ErrorAt([]any{&c.Types}, `int: types is empty: no INT would be taken; the default is ["md", "mx", "destination"]`)
	}
	if c.INT1Dialect == GEANTINT1 && !slices.Contains(c.Versions, "1") {
		d.WarnAt([]any{&c.INT1Dialect}, `int: int1_dialect = "geant" does nothing without INT 1.0; add "1" to versions`)
	}
	if c.ShimLength == ShimInclusive && len(c.Versions) > 0 && !slices.Contains(c.Versions, "2") {
		d.WarnAt([]any{&c.ShimLength}, `int: shim_length = "inclusive" is about shims of INT 2.x, which versions does not have; shims of older ones always count themselves`)
	}
}

// intPort is a UDP destination port that carries INT.
type intPort struct {
	name  string
	at    *uint16
	block any // where at has its default
}

// ports are those that packets with INT go to, in the order in which they are looked at.
func (c *INT) ports() (all []intPort) {
	if c.UDPPort != nil {
		all = append(all, intPort{"udp_port", c.UDPPort, &c.UDPPort})
	}
	if c.VXLANGPE != nil {
		all = append(all, intPort{"vxlan_gpe.port", &c.VXLANGPE.Port, &c.VXLANGPE})
	}
	if c.Geneve != nil {
		all = append(all, intPort{"geneve.port", &c.Geneve.Port, &c.Geneve})
	}
	return all
}

// checkINTPorts: a UDP destination port says one thing. Where it said two, the
// parser would follow the first, and INT of the other would reach the hosts.
func (d checker) checkINTPorts(c *INT) {
	ports := c.ports()
	for i, p := range ports {
		for _, q := range ports[:i] {
			if *p.at == *q.at && *p.at != 0 {
				d.ErrorAt([]any{p.at, p.block}, "int: %s = %d is %s too: only one kind of INT can be at a port", p.name, *p.at, q.name)
			}
		}
	}
}

// maxHopWords is what Hop ML, 5 bits, can say (INT 2.1, "INT-MD Metadata Header
// Format").
const maxHopWords = 31

// checkDomain: the layout adds up.
func (d checker) checkDomain(x *Domain) {
	bits, roles, hop := map[uint8]string{}, map[Role]string{}, 0
	if len(x.Instructions) == 0 {
		d.ErrorAt([]any{x}, "domain %q has no instruction: without one its metadata cannot be told apart", x.Name)
	}
	for i := range x.Instructions {
		in := &x.Instructions[i]
		where := fmt.Sprintf("domain %q: instruction %q", x.Name, in.Name)
		if !d.Good(&in.Bit) || !d.Good(&in.Length) {
			continue
		}
		if other, twice := bits[in.Bit]; twice {
			d.ErrorAt([]any{&in.Bit}, "%s: bit %d is that of instruction %q too; each needs its own", where, in.Bit, other)
		}
		bits[in.Bit] = in.Name
		if in.Length%4 != 0 {
			d.ErrorAt([]any{&in.Length}, "%s: length = %d: must be a multiple of 4; nearest: %d", where, in.Length, (in.Length+2)/4*4)
		}
		if in.Scope == EachHop {
			hop += int(in.Length)
		}
		what, once := map[Role]string{SequenceRole: "sequence number", TTLRole: "TTL"}[in.Role]
		if !once {
			continue
		}
		if roles[in.Role] != "" {
			d.ErrorAt([]any{&in.Role}, "%s: instruction %q has the role %s already; a packet has one %s", where, roles[in.Role], in.Role, what)
		}
		roles[in.Role] = in.Name
		if in.Length > 8 {
			d.ErrorAt([]any{&in.Length}, "%s: length = %d: a %s has 4 or 8 bytes", where, in.Length, what)
		}
	}
	if hop > 4*maxHopWords {
		d.ErrorAt([]any{x}, "domain %q: its instructions of scope hop take %d bytes per hop; Hop ML has 5 bits: at most %d", x.Name, hop, 4*maxHopWords)
	}
}

// intPorts are the ports of all blocks int.
func (c *Config) intPorts() (all []intPort) {
	for _, x := range c.INTs() {
		all = append(all, x.ports()...)
	}
	return all
}
