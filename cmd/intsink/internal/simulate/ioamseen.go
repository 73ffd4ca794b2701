// IOAMSeen: IOAM of any namespace, whether the configuration takes it or not, and how its nodes count time.

package simulate

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"intsink/cmd/internal/cli"
	"intsink/conf"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
)

// IOAMSeen is what packets have of one namespace.
type IOAMSeen struct {
	Namespace uint16         `json:"namespace"`
	Packets   int            `json:"packets"`
	Probes    int            `json:"probes"`            // of these, with flag A
	Tunnels   []netip.Addr   `json:"tunnels,omitempty"` // where packets go that are tunnels
	Clock     conf.IOAMClock `json:"clock"`             // that all times of nodes are possible by; "" where nodes tell none
}

// mostTunnels are told of a namespace.
const mostTunnels = 8

// mostNamespaces are looked at; a packet has no more of them either.
const mostNamespaces = 16

// ioamTry is one namespace.
type ioamTry struct {
	IOAMSeen
	locator *inthdr.Locator
	seen    int              // packets, sound or not
	times   [len(clocks)]int // of nodes, that a clock can have shown
}

// clocks, the one with the smallest fractions first: what it shows, those behind it can show, too.
var clocks = [...]struct {
	name   conf.IOAMClock
	reader ioam.Clock
}{{conf.POSIXClock, ioam.POSIX}, {conf.TruncatedPTPClock, ioam.PTP}, {conf.NTPClock, ioam.NTP}}

// ioamTries are all namespaces that packets have.
type ioamTries struct {
	any  ioam.Config
	by   map[uint16]*ioamTry
	room []byte
}

func newIOAMTries() *ioamTries {
	return &ioamTries{any: ioam.Config{Any: true}, by: map[uint16]*ioamTry{}}
}

// packet looks at one packet, and takes out one namespace after the other.
func (a *ioamTries) packet(frame []byte, l packet.Layers) {
	if l.IPVersion != 6 {
		return
	}
	for range mostNamespaces {
		var f ioam.Found
		if !a.any.Find(frame, &l, &f).Out() {
			return
		}
		t := a.of(ioam.NamespaceOf(frame[f.Option:]))
		var i inthdr.Info
		var o inthdr.Outers
		if t == nil || t.locator.Find(frame, &l, &i, &o) != inthdr.Sound {
			return
		}
		t.count(frame, &l, &i)
		a.room = append(a.room[:0], frame...)
		frame = a.room[strip.Strip(a.room, &l, &i, &o):]
		if packet.Parse(frame, len(frame), &l) != packet.OK {
			return
		}
	}
}

// of is what is known of a namespace; nil: there are too many.
func (a *ioamTries) of(namespace uint16) *ioamTry {
	t := a.by[namespace]
	if t == nil && len(a.by) < mostTries {
		t = &ioamTry{IOAMSeen: IOAMSeen{Namespace: namespace}}
		t.locator = inthdr.NewLocator(inthdr.Config{Formats: inthdr.Formats{IOAM: &ioam.Config{Namespaces: []uint16{namespace}}}})
		a.by[namespace] = t
	}
	return t
}

// count adds a packet with sound options, and the times of its nodes.
func (t *ioamTry) count(frame []byte, l *packet.Layers, i *inthdr.Info) {
	if t.seen++; i.Reason != inthdr.ReasonNone {
		return
	}
	if t.Packets++; i.Copy {
		t.Probes++
	}
	if l.Proto == packet.ProtoIPv4 || l.Proto == packet.ProtoIPv6 {
		_, to := inthdr.Addresses(frame, l)
		if a, _ := to.Of(); len(t.Tunnels) < mostTunnels && !slices.Contains(t.Tunnels, a) {
			t.Tunnels = append(t.Tunnels, a)
		}
	}
	if i.Hops == 0 {
		return
	}
	nodes := ioam.Open(frame, i.Shim, i.Stack, i.StackLen)
	for node := nodes.Next(); node != nil; node = nodes.Next() {
		for n, c := range clocks {
			if nodes.Arrival(node, c.reader) != ioam.UnknownTime {
				t.times[n]++
			}
		}
	}
}

// found are the namespaces, the one with most packets first.
func (a *ioamTries) found() (all []IOAMSeen) {
	for _, t := range a.by {
		if t.Packets < leastFound || float64(t.Packets) < leastShare*float64(t.seen) {
			continue
		}
		x, last := t.IOAMSeen, len(clocks)-1
		for n := last; n >= 0 && t.times[last] > 0 && t.times[n] == t.times[last]; n-- {
			x.Clock = clocks[n].name
		}
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b IOAMSeen) int {
		return cmp.Or(b.Packets-a.Packets, int(a.Namespace)-int(b.Namespace))
	})
	return all
}

func (a *ioamTries) blocks() (all []string) {
	for _, x := range a.found() {
		all = append(all, x.block())
	}
	return all
}

func (a *ioamTries) under(c *conf.INT) (all []string) {
	for _, x := range a.found() {
		all = append(all, x.Under(c.IOAM))
	}
	return all
}

func (a *ioamTries) fill(s *Seen) { s.IOAM = a.found() }

// counts says how many packets there are.
func (s *IOAMSeen) counts() string {
	if s.Probes > 0 {
		return fmt.Sprintf("%s, of which %d are probes", cli.Count(s.Packets, "packet"), s.Probes)
	}
	return cli.Count(s.Packets, "packet")
}

// block is the block int that takes such packets.
func (s *IOAMSeen) block() string {
	clock := ""
	if s.Clock != "" && s.Clock != conf.POSIXClock {
		clock = fmt.Sprintf("\n      clock     = %q", s.Clock)
	}
	tunnels := ""
	if len(s.Tunnels) > 0 {
		tunnels = fmt.Sprintf("\n      # decapsulate = [%s] # if hosts do not end these tunnels", quoted(s.Tunnels))
	}
	return fmt.Sprintf("int {\n    ioam {\n      namespace = %d%s%s\n    }\n  } # %s", s.Namespace, clock, tunnels, s.counts())
}

// quoted is a list of addresses, as a configuration has it.
func quoted(all []netip.Addr) string {
	var text []string
	for _, a := range all {
		text = append(text, strconv.Quote(a.String()))
	}
	return strings.Join(text, ", ")
}

// Under is a line about such packets, and about what the configuration makes of them.
func (s *IOAMSeen) Under(c *conf.IOAM) string {
	line := fmt.Sprintf("IOAM of namespace %d: %s", s.Namespace, s.counts())
	switch {
	case c == nil || !slices.Contains(c.Namespace, s.Namespace):
		line += "; no block ioam takes this namespace, so it stays in"
	case s.Clock != "" && s.Clock != c.Clock:
		line += fmt.Sprintf("; its times are those of clock = %q, and the block ioam says %q", s.Clock, c.Clock)
	}
	if ends := s.left(c); c != nil && len(ends) > 0 {
		line += fmt.Sprintf("; tunnels to %s stay, which hosts have to end (else: decapsulate)", quoted(ends))
	}
	return line
}

// left are the ends of tunnels that the configuration does not name.
func (s *IOAMSeen) left(c *conf.IOAM) []netip.Addr {
	return slices.DeleteFunc(slices.Clone(s.Tunnels), func(a netip.Addr) bool { return c != nil && slices.Contains(c.Decapsulate, a) })
}
