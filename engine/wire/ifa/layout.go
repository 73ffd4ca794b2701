// Layout: which bits of a hop are which value; Broadcom's, which need no configuration; which layouts a stack has.

package ifa

// Field is a value of a hop.
type Field uint8

const (
	Opaque Field = iota
	LNS
	DeviceID
	TTL
	Speed
	Congestion
	Queue
	RxSeconds
	RxNanoseconds
	EgressPort
	IngressPort
	ResidenceTime
	Occupancy
	NumFields
)

var fieldNames = [NumFields]string{
	Opaque: "opaque", LNS: "lns", DeviceID: "device_id", TTL: "ttl", Speed: "speed", Congestion: "congestion", Queue: "queue",
	RxSeconds: "rx_seconds", RxNanoseconds: "rx_nanoseconds", EgressPort: "egress_port", IngressPort: "ingress_port",
	ResidenceTime: "residence_time", Occupancy: "occupancy",
}

// String is the name that a configuration has for f.
func (f Field) String() string { return fieldNames[f%NumFields] }

// FieldOf returns the field of a name.
func FieldOf(name string) (Field, bool) {
	for f, n := range fieldNames {
		if n == name {
			return Field(f), true
		}
	}
	return 0, false
}

// Bits are some bits of a hop, 32 at most; none of a field that a layout has not.
type Bits struct{ At, Width uint16 }

// of returns the value in hop.
func (f Bits) of(hop []byte) uint32 {
	var v uint64
	first, last := int(f.At/8), int(f.At+f.Width+7)/8
	for _, x := range hop[first:last] { // five bytes at most
		v = v<<8 | uint64(x)
	}
	return uint32(v >> (uint(last)*8 - uint(f.At) - uint(f.Width)) & (1<<f.Width - 1))
}

// Layout is how a hop is laid out.
type Layout struct {
	Name string
	GNS  uint8
	LNS  int // of GNSByHop; AnyLNS: all that have no layout of their own
	Len  int // bytes
	// Guessed: hops of this layout are such as fits says. No configuration has it.
	Guessed bool
	Fields  [NumFields]Bits
}

// GNSByHop is the global namespace in which each hop says by its LNS how it is laid out. AnyLNS is a layout of all of these.
const (
	GNSByHop = 15
	AnyLNS   = -1
)

// Part is a field in its place among others.
type Part struct {
	Field Field
	Width uint16
}

// NewLayout adds up the parts of a hop; false where they are no whole number of words, or too long.
func NewLayout(name string, gns uint8, lns int, parts []Part) (l Layout, ok bool) {
	l = Layout{Name: name, GNS: gns, LNS: lns}
	at := 0
	for _, p := range parts {
		if p.Field != Opaque {
			l.Fields[p.Field] = Bits{uint16(at), p.Width}
		}
		at += int(p.Width)
	}
	l.Len = at / 8
	return l, at > 0 && at%32 == 0 && l.Len <= MaxStackLen
}

// broadcom are the layouts of Broadcom's switches: of 32 bytes, or less at the end.
var broadcom = func() (all [3]Layout) {
	front := []Part{
		{LNS, 4}, {DeviceID, 20}, {TTL, 8}, {Speed, 4}, {Congestion, 2}, {Queue, 6}, {RxSeconds, 20},
		{EgressPort, 16}, {IngressPort, 16}, {RxNanoseconds, 32}, {ResidenceTime, 32},
	}
	for i, x := range []struct {
		name   string
		opaque uint16
	}{{"broadcom-32", 96}, {"broadcom-28", 64}, {"broadcom-20", 0}} {
		all[i], _ = NewLayout(x.name, GNSByHop, AnyLNS, append(front[:len(front):len(front)], Part{Opaque, x.opaque}))
		all[i].Guessed = true
	}
	return all
}()

// Config is how a link's IFA is read.
type Config struct {
	Protocols    []uint8
	Marker       uint64 // of IFA 1.0; 0: none is looked for
	StripCopies  bool   // copies go on as the packets that they are copies of; else they end here
	Layouts      []Layout
	MaxResidence uint32 // a longer residence time, in nanoseconds, is unknown
}

// MarkerOfH3C is the marker of IFA 1.0 in copies that switches of H3C make.
const MarkerOfH3C = 0xaaaaaaaabbbbbbbb

// Takes reports whether proto is IFA's.
func (c *Config) Takes(proto uint8) bool {
	for _, p := range c.Protocols {
		if p == proto {
			return true
		}
	}
	return false
}

// layoutOf is the configured layout of the hop that b begins with.
func (c *Config) layoutOf(b []byte, gns uint8) *Layout {
	lns, any := int(b[0]>>4), (*Layout)(nil)
	for i := range c.Layouts {
		l := &c.Layouts[i]
		switch {
		case l.GNS != gns:
		case gns != GNSByHop || l.LNS == lns:
			return l
		case l.LNS == AnyLNS:
			any = l
		}
	}
	return any
}

// Stack are the hops of a packet.
type Stack struct {
	b      []byte
	gns    uint8
	c      *Config
	plain  *Layout // of all hops; nil: each has a configured one
	number int
}

// Open divides the stack b into hops; false where no layout fits: LNS is then that of the first hop that none is known for.
func (c *Config) Open(b []byte, gns uint8) (s Stack, lns uint8, ok bool) {
	s = Stack{b: b, gns: gns, c: c}
	if len(b) == 0 {
		return s, 0, true
	}
	for rest := b; len(rest) > 0; s.number++ {
		l := c.layoutOf(rest, gns)
		if l == nil && len(rest) == len(b) && gns == GNSByHop {
			return s.asBroadcom()
		}
		if l == nil || l.Len > len(rest) {
			return s, rest[0] >> 4, false
		}
		rest = rest[l.Len:]
	}
	return s, 0, true
}

// asBroadcom divides a stack by the longest of Broadcom's layouts that its length allows and whose values can be.
func (s Stack) asBroadcom() (Stack, uint8, bool) {
	for i := range broadcom {
		l := &broadcom[i]
		if len(s.b)%l.Len == 0 && l.fits(s.b) {
			s.plain, s.number = l, len(s.b)/l.Len
			return s, 0, true
		}
	}
	return s, s.b[0] >> 4, false
}

// NoTime are the bits of a time in nanoseconds that no part of a second has.
func (l *Layout) NoTime() Bits { return Bits{l.Fields[RxNanoseconds].At, 2} }

// fits tells whether all hops have one LNS, times that can be parts of a second, and TTLs that do not rise on the way.
func (l *Layout) fits(b []byte) bool {
	lns, ttl := b[0]>>4, uint32(0)
	for ; len(b) >= l.Len; b = b[l.Len:] {
		now := l.Fields[TTL].of(b)
		if b[0]>>4 != lns || now < ttl || l.NoTime().of(b) != 0 {
			return false
		}
		ttl = now
	}
	return true
}

// Len is the number of hops.
func (s *Stack) Len() int { return s.number }

// Uniform is the layout of all hops, where all have one that a stack of this length has, whatever its hops say.
func (s *Stack) Uniform() *Layout {
	if s.plain != nil {
		for i := range broadcom {
			if l := &broadcom[i]; len(s.b)%l.Len == 0 {
				if l != s.plain {
					return nil
				}
				return l
			}
		}
	}
	var l *Layout
	for rest := s.b; len(rest) > 0; rest = rest[l.Len:] {
		k := s.c.layoutOf(rest, s.gns)
		if l != nil && k != l {
			return nil
		}
		l = k
	}
	return l
}

// Values are those of a hop: of a field that its layout has not, Unknown.
type Values [NumFields]uint32

// Unknown is no value: all ones, as in INT.
const Unknown = 1<<32 - 1

// Next reads the next hop, newest first, and takes it off; false at the end. odd: its residence time cannot be, and is Unknown.
func (s *Stack) Next(v *Values) (odd, ok bool) {
	if len(s.b) == 0 {
		return false, false
	}
	l := s.plain
	if l == nil {
		l = s.c.layoutOf(s.b, s.gns)
	}
	hop := s.b[:l.Len]
	s.b = s.b[l.Len:]
	for f := range v {
		v[f] = Unknown
		if l.Fields[f].Width > 0 {
			v[f] = l.Fields[f].of(hop)
		}
	}
	if r := v[ResidenceTime]; r != Unknown && r > s.c.MaxResidence {
		v[ResidenceTime], odd = Unknown, true
	}
	return odd, true
}
