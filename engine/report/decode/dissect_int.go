// Dissects INT over TCP and UDP in a reported packet: shim, MD and MX header into a Stack;
// probe marker, original port.

package decode

import (
	"encoding/binary"
	"slices"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

// Stack is the INT in a packet, as far as the report shows it. The newest hop is
// first.
type Stack struct {
	Type        string `json:"type"`          // md, destination, mx
	ShimLength  uint8  `json:"shim_length"`   // words, as on the wire
	NPT         uint8  `json:"npt"`           // next protocol type of the shim
	Version     *uint8 `json:"ver,omitempty"` // of the INT header; the rest is absent for destination
	Discard     bool   `json:"discard"`
	HopExceeded *bool  `json:"max_hop_count_exceeded,omitempty"` // MD
	MTUExceeded *bool  `json:"mtu_exceeded,omitempty"`           // MD
	HopML       *uint8 `json:"hop_ml,omitempty"`                 // MD: words per hop
	Remaining   *uint8 `json:"remaining_hop_count,omitempty"`    // MD

	InstructionBitmap *uint16 `json:"instruction_bitmap,omitempty"`
	DomainSpecificID  *uint16 `json:"domain_specific_id,omitempty"`
	DSInstruction     *uint16 `json:"ds_instruction,omitempty"`
	DSFlags           *uint16 `json:"ds_flags,omitempty"`

	Hops []Hop `json:"hops,omitempty"`
	// Source is what only the source inserted: source-only metadata of MD,
	// source-inserted metadata of MX, the contents of a destination header.
	Source Hex `json:"source_metadata,omitempty"`
	// Truncated: the packet is cut inside INT; Hops are the whole ones.
	Truncated bool   `json:"truncated,omitempty"`
	Problem   string `json:"problem,omitempty"` // why there are no hops, or none that could be believed
	Next      *Stack `json:"next,omitempty"`    // INT directly behind this one
}

// Hop is one hop's metadata.
type Hop struct {
	Values
	DSMetadata Hex
}

// MarshalJSON implements json.Marshaler: the values and, where there are any,
// the domain specific bytes as ds_metadata.
func (h Hop) MarshalJSON() ([]byte, error) {
	b, err := h.Values.MarshalJSON()
	if err != nil || len(h.DSMetadata) == 0 {
		return b, err
	}
	b = b[:len(b)-1]
	if len(h.Values) > 0 {
		b = append(b, ',')
	}
	digits, _ := h.DSMetadata.MarshalText()
	b = append(b, `"ds_metadata":"`...)
	b = append(b, digits...)
	return append(b, `"}`...), nil
}

const (
	shimLen      = 4
	intHeaderLen = 12
	oldHeaderLen = 8 // INT 1.0
	maxNested    = 8 // INT headers, or transport headers with INT between them
)

var shimTypes = [...]string{1: "md", 2: "destination", 3: "mx"}

// findINT reads INT where the port, the DSCP or the probe marker says that there
// is some, and what INT hides: the original port, or the original transport
// header.
func (x *dissector) findINT(proto uint8) *Stack {
	var first *Stack
	next, start := &first, len(x.rest)
	for range maxNested {
		shimAt := x.rest
		s, shim := x.nextINT(proto, first == nil)
		if s == nil {
			break
		}
		*next, next = s, &s.Next
		if s.NPT == 2 {
			x.flow.Protocol = ref(shim[3])
			x.flow.SourcePort, x.flow.DestinationPort = nil, nil
			if !s.Truncated {
				x.restored(s, shimAt, shim[3], start)
			}
			break
		}
		if s.NPT == 0 {
			if dscp := shim[3] >> 2; dscp != 0 {
				x.flow.DSCP = &dscp
			}
			break
		}
		x.flow.DestinationPort = ref(binary.BigEndian.Uint16(shim[2:]))
		if s.Truncated {
			break
		}
	}
	return first
}

// nextINT reads INT behind a transport header or behind other INT. In TCP it
// stands in front of the options, where a shim of MD or MX cannot be taken for an
// option in use, or behind them.
func (x *dissector) nextINT(proto uint8, outermost bool) (*Stack, []byte) {
	if proto == packet.ProtoUDP && slices.Contains(x.INTPorts, *x.flow.DestinationPort) {
		return x.stack(true)
	}
	if !outermost {
		return nil, nil
	}
	byDSCP := x.DSCPMask != 0 && *x.flow.DSCP&x.DSCPMask == x.DSCP&x.DSCPMask
	behind := x.rest
	x.rest = x.options
	if marked := x.marked(); (marked || byDSCP) && len(x.rest) > 0 && (x.rest[0]>>4 == 1 || x.rest[0]>>4 == 3) {
		if s, shim := x.stack(false); s != nil {
			return s, shim
		}
	}
	x.rest = behind
	if !x.marked() && !byDSCP {
		return nil, nil
	}
	return x.stack(false)
}

// marked takes the probe marker, where it is there.
func (x *dissector) marked() bool {
	if x.ProbeMarker == 0 || !x.probed() || len(x.rest) < 8 || binary.BigEndian.Uint64(x.rest) != x.ProbeMarker {
		return false
	}
	x.rest = x.rest[8:]
	return true
}

// probed reports whether the probe marker is looked for on the packet's port.
func (x *dissector) probed() bool {
	return len(x.ProbePorts) == 0 || slices.ContainsFunc(x.ProbePorts, func(r inthdr.PortRange) bool {
		return r.Has(*x.flow.DestinationPort)
	})
}

// stack reads one shim and its contents; nil if it is no INT shim, and the packet is then
// unchanged.
func (x *dissector) stack(byPort bool) (*Stack, []byte) {
	if len(x.rest) < shimLen {
		return nil, nil
	}
	shim := x.rest[:shimLen]
	if old := shim[0]; old == 1 || old == 2 { // INT 1.0: eight bits of type
		return x.oldStack(shim)
	}
	t, npt := shim[0]>>4, shim[0]>>2&3
	if npt > 2 || byPort != (npt != 0) {
		return nil, nil
	}
	before := x.rest
	x.rest = x.rest[shimLen:]
	s := x.body(t, x.words(shim))
	if s == nil {
		x.rest = before
		return nil, nil
	}
	s.NPT, s.ShimLength = npt, shim[1]
	return s, shim
}

// words are those behind a shim of 2.x.
func (d *Decoder) words(shim []byte) uint8 {
	if d.ShimInclusive && shim[1] > 0 {
		return shim[1] - 1
	}
	return shim[1]
}

// body reads the INT header of type t and what it holds, words in all; nil where
// that is no INT. A Destination header of no words is none, as the sink has it.
func (x *dissector) body(t, words uint8) *Stack {
	size := int(words) * 4
	b := x.rest
	if t < 1 || t > 3 || t == 2 && size == 0 || t != 2 && (size < intHeaderLen || len(b) > 0 && b[0]>>4 != 2) {
		return nil
	}
	s := &Stack{Type: shimTypes[t], ShimLength: words, Truncated: size > len(b)}
	b = b[:min(size, len(b))]
	x.rest = x.rest[len(b):]
	switch {
	case t == 2:
		s.Source = clone(b)
	case len(b) >= intHeaderLen:
		s.header(b, t == 1)
		s.contents(x.Decoder, b[intHeaderLen:], size-intHeaderLen)
	}
	return s
}

// header reads the INT-MD or INT-MX header of 12 bytes.
func (s *Stack) header(b []byte, md bool) {
	s.Version = ref(b[0] >> 4)
	s.Discard = b[0]&0x08 != 0
	if md {
		s.HopExceeded, s.MTUExceeded = ref(b[0]&0x04 != 0), ref(b[0]&0x02 != 0)
		s.HopML, s.Remaining = ref(b[2]&0x1f), ref(b[3])
	}
	s.InstructionBitmap = ref(binary.BigEndian.Uint16(b[4:]))
	s.DomainSpecificID = ref(binary.BigEndian.Uint16(b[6:]))
	s.DSInstruction = ref(binary.BigEndian.Uint16(b[8:]))
	s.DSFlags = ref(binary.BigEndian.Uint16(b[10:]))
}

// oldStack reads INT 1.0 over TCP or UDP: a shim of Type, reserved, Length that
// counts the shim, and DSCP; a header of eight bytes; words only.
func (x *dissector) oldStack(shim []byte) (*Stack, []byte) {
	size := int(shim[2])*4 - shimLen
	body := x.rest[shimLen:]
	if shim[0] != 1 || size < oldHeaderLen || len(body) > 0 && body[0]>>4 != 1 {
		return nil, nil
	}
	s := &Stack{Type: shimTypes[1], ShimLength: shim[2], Truncated: size > len(body)}
	body = body[:min(size, len(body))]
	x.rest = x.rest[shimLen+len(body):]
	if len(body) < oldHeaderLen {
		return s, shim
	}
	s.old(x.Decoder, body)
	return s, shim
}
