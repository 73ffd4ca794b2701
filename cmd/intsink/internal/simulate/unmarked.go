// Unmarked: finds INT that the configuration does not look for, and says what to write into the block int.

package simulate

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// Unmarked looks for INT behind each UDP port and DSCP that packets have, and where the specification puts it in
// tunnels, and telemetry that is not INT, in the first packets of a capture.
type Unmarked struct {
	packets int
	tries   map[string]*try // by the line of the block int
	all     []*try          // those that do not go by what a packet has
	foreign []foreignTries
}

// try is one way in which INT may be marked.
type try struct {
	line        string
	locator     *inthdr.Locator
	seen, found int // packets that the line selects; those with sound INT of some hops
}

// How many packets are looked at, how many lines are tried, and how many packets and which part of those that a line
// selects have to be INT.
const (
	unmarkedPackets = 20000
	mostTries       = 256
	leastFound      = 3
	leastShare      = 0.8
)

// NewUnmarked begins with the markings that need no number of the packet's.
func NewUnmarked() *Unmarked {
	gre := uint16(0x88b6)
	u := &Unmarked{tries: map[string]*try{}, foreign: newForeignTries()}
	for line, c := range map[string]inthdr.Config{
		"gre_protocol = 34998": {GREProtocol: &gre},
		"vxlan_gpe = {}":       {VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 130}},
		"geneve = {}":          {Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}},
	} {
		u.all = append(u.all, newTry(line, c))
	}
	return u
}

func newTry(line string, c inthdr.Config) *try {
	c.Version2, c.Version1 = true, true
	return &try{line: line, locator: inthdr.NewLocator(c)}
}

// Packet looks at one frame.
func (u *Unmarked) Packet(frame []byte) {
	if u.packets++; u.packets > unmarkedPackets {
		return
	}
	var l packet.Layers
	if packet.Parse(frame, len(frame), &l) != packet.OK || l.IPVersion == 0 {
		return
	}
	for _, f := range u.foreign {
		f.packet(frame, l)
	}
	if l.Payload == 0 {
		return
	}
	for _, t := range u.all {
		t.packet(frame, l, false)
	}
	if port := l.DstPort; l.Proto == packet.ProtoUDP {
		u.by(frame, l, fmt.Sprintf("udp_port = %d", port), inthdr.Config{UDPPort: &port})
	}
	if l.DSCP != 0 {
		u.by(frame, l, fmt.Sprintf("dscp = { value = %d, mask = 63 }", l.DSCP), inthdr.Config{DSCP: []inthdr.DSCP{{Value: l.DSCP, Mask: 63}}})
	}
}

// by tries the line that selects this packet.
func (u *Unmarked) by(frame []byte, l packet.Layers, line string, c inthdr.Config) {
	t := u.tries[line]
	if t == nil && len(u.tries) < mostTries {
		t = newTry(line, c)
		u.tries[line] = t
	}
	if t != nil {
		t.packet(frame, l, true)
	}
}

// packet looks for INT in a frame; selected: the line takes it for INT, whatever it is.
func (t *try) packet(frame []byte, l packet.Layers, selected bool) {
	var i inthdr.Info
	var o inthdr.Outers
	r := t.locator.Find(frame, &l, &i, &o)
	if selected || r != inthdr.NotINT {
		t.seen++
	}
	if r == inthdr.Sound && i.Reason == inthdr.ReasonNone && i.Hops > 0 {
		t.found++
	}
}

// Lines are blocks int that would find INT in most of what they select, the one with most packets first.
func (u *Unmarked) Lines() (all []string) {
	found := slices.DeleteFunc(append(slices.Collect(maps.Values(u.tries)), u.all...), func(t *try) bool {
		return t.found < leastFound || float64(t.found) < leastShare*float64(t.seen)
	})
	slices.SortFunc(found, func(a, b *try) int { return cmp.Or(b.found-a.found, strings.Compare(a.line, b.line)) })
	for _, t := range found {
		all = append(all, fmt.Sprintf("int { %s } # %d of the first %d packets", t.line, t.found, min(u.packets, unmarkedPackets)))
	}
	for _, f := range u.foreign {
		all = append(all, f.blocks()...)
	}
	return all
}

// Explain writes why no packet had INT: what the block int could say, or that nothing was found.
func (u *Unmarked) Explain(w io.Writer) {
	lines := u.Lines()
	if len(lines) == 0 {
		fmt.Fprintf(w, "no packet has INT as the block int marks it, and none was found by other ports, DSCPs, in tunnels, %s: was the capture taken between two switches that write INT?\n", lookedFor)
		return
	}
	fmt.Fprintf(w, "no packet has INT as the block int marks it; it would be found by\n  %s\n", strings.Join(lines[:min(len(lines), 4)], "\n  "))
}
