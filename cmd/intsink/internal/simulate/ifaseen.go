// IFASeen: IFA by any IP protocol, live packets and copies, and of how many copies the packet itself is there.

package simulate

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/status"
	"intsink/conf"
	"intsink/engine/burst"
	"intsink/engine/wire/ifa"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
)

// IFASeen is what packets of one IP protocol have of IFA.
type IFASeen struct {
	Protocol uint8 `json:"protocol"`
	Live     int   `json:"live"`   // I = 1
	Copies   int   `json:"copies"` // I = 0
	Twins    int   `json:"twins"`  // copies whose packet is there without IFA, too

	CopiesAlone  int `json:"flows_of_copies_alone"`  // whose packets take another way, or are none
	PacketsAlone int `json:"flows_of_packets_alone"` // without IFA, which no initiator copied; 0 where there are no copies
}

// ifaTry is one IP protocol that may be IFA's.
type ifaTry struct {
	IFASeen
	locator *inthdr.Locator
	seen    int             // packets of the protocol
	copies  []uint64        // what the packets are without IFA
	flows   map[uint64]bool // of copies
}

// ifaTries are all protocols that packets have.
type ifaTries struct {
	by    map[uint8]*ifaTry
	plain map[uint64]bool // packets without IFA, of TCP, UDP and others that IFA is inserted into
	flows map[uint64]bool // of those packets
	first *inthdr.Locator // of IFA 1.0
	marks int             // packets with IFA 1.0
	seed  maphash.Seed
	room  []byte
}

func newIFATries() *ifaTries {
	return &ifaTries{by: map[uint8]*ifaTry{}, plain: map[uint64]bool{}, flows: map[uint64]bool{}, seed: maphash.MakeSeed(),
		first: inthdr.NewLocator(inthdr.Config{Formats: inthdr.Formats{IFA: &ifa.Config{Marker: ifa.MarkerOfH3C}}})}
}

// packet looks at one packet.
func (a *ifaTries) packet(frame []byte, l packet.Layers) {
	var i inthdr.Info
	var o inthdr.Outers
	if at := l; a.first.Find(frame, &at, &i, &o) == inthdr.Sound {
		a.marks++
		return
	}
	switch l.Proto {
	case packet.ProtoTCP, packet.ProtoUDP, packet.ProtoGRE, packet.ProtoICMP, packet.ProtoICMPv6:
		a.plain[a.identity(frame, &l)] = true
		if l.Fragment != packet.LaterFragment {
			a.flows[a.flow(frame, &l)] = true
		}
		return
	case packet.ProtoIPv4, packet.ProtoIPv6:
		return
	}
	t := a.by[l.Proto]
	if t == nil {
		t = &ifaTry{IFASeen: IFASeen{Protocol: l.Proto}, flows: map[uint64]bool{}}
		t.locator = inthdr.NewLocator(inthdr.Config{Version2: true, Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{l.Proto}, MaxResidence: 1e9}}})
		a.by[l.Proto] = t
	}
	t.seen++
	if t.locator.Find(frame, &l, &i, &o) != inthdr.Sound {
		return
	}
	if !i.Copy {
		t.Live++
		return
	}
	t.Copies++
	a.room = append(a.room[:0], frame...)
	n := strip.Strip(a.room, &l, &i, &o)
	var was packet.Layers
	if without := a.room[n:]; packet.Parse(without, len(without), &was) == packet.OK {
		t.copies = append(t.copies, a.identity(without, &was))
		t.flows[a.flow(without, &was)] = true
	}
}

// flow tells flows apart.
func (a *ifaTries) flow(frame []byte, l *packet.Layers) uint64 {
	h := a.addresses(frame, l)
	h.Write([]byte{l.Proto, byte(l.SrcPort >> 8), byte(l.SrcPort), byte(l.DstPort >> 8), byte(l.DstPort)})
	return h.Sum64()
}

// addresses begins a hash.
func (a *ifaTries) addresses(frame []byte, l *packet.Layers) (h maphash.Hash) {
	h.SetSeed(a.seed)
	src, dst := inthdr.Addresses(frame, l)
	for _, x := range []inthdr.Address{src, dst} {
		addr, _ := x.Of()
		h.Write(addr.AsSlice())
	}
	return h
}

// identity tells packets apart by all from the IP header on, but for what changes on the way.
func (a *ifaTries) identity(frame []byte, l *packet.Layers) uint64 {
	h := a.addresses(frame, l)
	if l.IPVersion == 4 {
		h.Write(frame[l.L3+4:][:2]) // identification
	}
	h.WriteByte(l.Proto)
	h.Write(frame[min(int(l.L4), len(frame)):min(int(l.End), len(frame))])
	return h.Sum64()
}

// found are the protocols of IFA, the one with most packets first.
func (a *ifaTries) found() (all []IFASeen) {
	for _, t := range a.by {
		if n := t.Live + t.Copies; n < leastFound || float64(n) < leastShare*float64(t.seen) {
			continue
		}
		x := t.IFASeen
		for _, c := range t.copies {
			if a.plain[c] {
				x.Twins++
			}
		}
		if x.Copies > 0 {
			x.CopiesAlone, x.PacketsAlone = without(t.flows, a.flows), without(a.flows, t.flows)
		}
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b IFASeen) int {
		return cmp.Or(b.Live+b.Copies-a.Live-a.Copies, int(a.Protocol)-int(b.Protocol))
	})
	return all
}

func (a *ifaTries) blocks() (all []string) {
	for _, x := range a.found() {
		all = append(all, x.block())
	}
	return all
}

func (a *ifaTries) under(c *conf.INT) (all []string) {
	for _, x := range a.found() {
		all = append(all, x.Under(c.IFA))
	}
	return all
}

func (a *ifaTries) fill(s *Seen) { s.IFA = a.found() }

// ifa1Tries have seen packets with IFA 1.0 where those of IFA were looked for.
type ifa1Tries struct{ *ifaTries }

func (ifa1Tries) packet([]byte, packet.Layers) {}

func (a ifa1Tries) blocks() []string {
	if a.marks == 0 {
		return nil
	}
	return []string{fmt.Sprintf("int {\n    ifa {\n      protocol = 253\n      marker   = \"0x%x\"\n      copies   = \"drop\"\n    }\n  } # %s with IFA 1.0", uint64(ifa.MarkerOfH3C), cli.Count(a.marks, "packet"))}
}

func (a ifa1Tries) under(c *conf.INT) []string {
	if line := IFA1Line(a.marks, c.IFA); line != "" {
		return []string{line}
	}
	return nil
}

func (a ifa1Tries) fill(s *Seen) { s.IFA1 = a.marks }

// without counts what a has and b has not.
func without(a, b map[uint64]bool) (n int) {
	for x := range a {
		if !b[x] {
			n++
		}
	}
	return n
}

// AreCopies tells whether most packets with I = 0 are copies: their packets are there, too.
func (s *IFASeen) AreCopies() bool { return 2*s.Twins >= s.Copies }

// block is the block int that takes such packets, and what speaks for it.
func (s *IFASeen) block() string {
	copies := "drop"
	if !s.AreCopies() {
		copies = "strip"
	}
	return fmt.Sprintf("int {\n    ifa {\n      protocol = %d\n      copies   = %q\n    }\n  } # %s", s.Protocol, copies, s.counts())
}

// counts says how many packets are live, and what those are that are not.
func (s *IFASeen) counts() string {
	var parts []string
	if s.Live > 0 {
		parts = append(parts, cli.Count(s.Live, "packet")+" with I = 1, live")
	}
	if s.Copies > 0 {
		what := fmt.Sprintf("%s with I = 0, and %d of these without IFA, too", cli.Count(s.Copies, "packet"), s.Twins)
		if s.AreCopies() {
			what += ": copies" + s.alone()
		} else {
			what += ": live packets, unless these take another way"
		}
		parts = append(parts, what)
	}
	return strings.Join(parts, "; ")
}

// alone says of how many flows copies came and no packet, or the other way round; "" where both came of all.
func (s *IFASeen) alone() string {
	var parts []string
	if s.CopiesAlone > 0 {
		parts = append(parts, "copies without a packet came of "+cli.Count(s.CopiesAlone, "flow"))
	}
	if s.PacketsAlone > 0 {
		parts = append(parts, "packets without a copy of "+cli.Count(s.PacketsAlone, "flow"))
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// LayoutlessLine says which namespaces of IFA have no layout; "" where all have one.
func LayoutlessLine(c *burst.Counters) string {
	return status.NoLayoutLine(c.NoLayout())
}

// IFA1Line is a line about so many packets with IFA 1.0, and about what the configuration makes of them; "" where there are none.
func IFA1Line(n int, c *conf.IFA) string {
	if n == 0 {
		return ""
	}
	line := fmt.Sprintf("IFA 1.0: %s with the marker 0x%x: copies", cli.Count(n, "packet"), uint64(ifa.MarkerOfH3C))
	if c == nil || c.Marker == nil || *c.Marker != ifa.MarkerOfH3C {
		line += "; no block ifa looks for it, so they reach the host"
	}
	return line
}

// Under is a line about such packets, and about what the configuration makes of them.
func (s *IFASeen) Under(c *conf.IFA) string {
	line := fmt.Sprintf("IFA by IP protocol %d: %s", s.Protocol, s.counts())
	switch {
	case c == nil || !slices.Contains(c.Protocol, s.Protocol):
		line += "; no block ifa takes this protocol, so it stays in"
	case s.Copies == 0:
	case c.Copies == conf.DropCopies && !s.AreCopies():
		line += "; copies = \"drop\" would lose them"
	case c.Copies == conf.StripCopies && s.AreCopies():
		line += "; copies = \"strip\" brings them to the host a second time"
	}
	return line
}
