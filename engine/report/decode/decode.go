// Decoder: divides a 2.0 report packet into individual reports, reads group header and main
// contents; its options say where INT is looked for.

package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"intsink/engine/inthdr"
	"intsink/engine/report"
)

// Decoder decodes report packets of versions 2.0, 1.0 and 0.5. Its fields say
// which packets inside reports carry INT; the zero value finds none. It is not
// for the packet path: it allocates. It may be used concurrently.
type Decoder struct {
	// INTPorts are UDP destination ports behind which an INT shim stands.
	INTPorts []uint16
	// DSCP and DSCPMask mark INT over TCP and UDP; mask 0 is no mark.
	DSCP, DSCPMask uint8
	// ProbeMarker stands in front of the shim over TCP and UDP; 0 is none. ProbePorts
	// are the destination ports that it is looked for on; none: all.
	ProbeMarker uint64
	ProbePorts  []inthdr.PortRange
	// GREProtocol, VXLANGPE and Geneve mark INT in tunnels; nil: with the values of
	// intsink's examples.
	GREProtocol *uint16
	VXLANGPE    *inthdr.VXLANGPE
	Geneve      *inthdr.Geneve
	// ShimInclusive: the Length of shims of 2.x counts the shim, as some sources write it.
	ShimInclusive bool
	// GEANT: INT 1.0 whose length fits more than one layout is as GEANT's programs write it.
	GEANT bool
	// Domains tell what the source alone adds. That of Transparent Security is known.
	Domains []inthdr.Domain
	// Strict makes reserved code points and bits errors: for payloads that may be something
	// else than reports.
	Strict bool
}

// Configured returns a Decoder that finds INT where a sink with that configuration does, but that
// it takes all versions.
func Configured(c inthdr.Config) *Decoder {
	d := &Decoder{
		ProbePorts: c.ProbePorts, GREProtocol: c.GREProtocol, VXLANGPE: c.VXLANGPE, Geneve: c.Geneve,
		ShimInclusive: c.ShimInclusive, GEANT: c.GEANT, Domains: c.Domains,
	}
	if c.UDPPort != nil {
		d.INTPorts = []uint16{*c.UDPPort}
	}
	if c.DSCP != nil {
		d.DSCP, d.DSCPMask = c.DSCP.Value, c.DSCP.Mask
	}
	if c.ProbeMarker != nil {
		d.ProbeMarker = *c.ProbeMarker
	}
	return d
}

// DefaultINTPort is where Decode and `intsink decode` look for INT.
const DefaultINTPort = 5000

// Decode decodes the payload of one UDP datagram, with INT on port 5000.
func Decode(payload []byte) (*Message, error) {
	return (&Decoder{INTPorts: []uint16{DefaultINTPort}}).Decode(payload)
}

// Decode decodes the payload of one UDP datagram. With an error it still
// returns what could be read, and nil only where the error is an ErrNotReport.
func (d *Decoder) Decode(payload []byte) (*Message, error) {
	if len(payload) < 4 {
		return nil, fmt.Errorf("%w: %d bytes", ErrNotReport, len(payload))
	}
	switch v := payload[0] >> 4; v {
	case 2:
		return d.decodeGroup(payload)
	case 1:
		return d.decode10(payload)
	case 0:
		return d.decode05(payload)
	default:
		return nil, fmt.Errorf("%w: version %d", ErrNotReport, v)
	}
}

// decodeGroup decodes a 2.0 report packet. A bad individual report does not
// hide the ones behind it as long as its Report Length can be believed.
func (d *Decoder) decodeGroup(p []byte) (*Message, error) {
	if len(p) < report.GroupHeaderLen {
		return nil, fmt.Errorf("%w: group header %w: %d of 8 bytes", ErrNotReport, ErrTruncated, len(p))
	}
	first := binary.BigEndian.Uint32(p)
	m := &Message{Header: Header{
		Version:        report.Version,
		HwID:           uint8(first >> 22 & 0x3f),
		SequenceNumber: first & 0x3fffff,
		NodeID:         ref(binary.BigEndian.Uint32(p[4:])),
	}}
	if len(p) == report.GroupHeaderLen {
		return m, fmt.Errorf("no individual report behind the group header: %w", ErrTruncated)
	}
	var errs []error
	at := report.GroupHeaderLen
	if id, ok := report.ReadIdentity(p[at:]); ok {
		m.Sender = &Sender{fmt.Sprintf("%016x", id.Instance), time.Unix(0, id.Began).UTC(), id.Sequence}
		at += report.IdentityReportLen
	}
	for at < len(p) {
		r, size, err := d.decodeIndividual(p[at:])
		if err != nil {
			errs = append(errs, fmt.Errorf("individual report %d at byte %d: %w", len(m.Reports)+1, at, err))
		}
		if r == nil {
			break
		}
		if err != nil {
			r.Problem = err.Error()
		}
		r.nameDropReason()
		m.Reports = append(m.Reports, *r)
		at += size
	}
	return m, errors.Join(errs...)
}

// decodeIndividual decodes the individual report at the start of b and returns
// how long it is. The report is nil where not even its first word is there.
func (d *Decoder) decodeIndividual(b []byte) (*Report, int, error) {
	if len(b) < firstWordLen {
		return nil, 0, fmt.Errorf("header %w: %d of 4 bytes", ErrTruncated, len(b))
	}
	r := &Report{
		RepType:        ref(b[0] >> 4),
		InType:         ref(b[0] & 0xf),
		ReportLength:   ref(b[1]),
		MDLength:       ref(b[2]),
		Dropped:        b[3]&0x80 != 0,
		CongestedQueue: b[3]&0x40 != 0,
		TrackedFlow:    b[3]&0x20 != 0,
		Intermediate:   ref(b[3]&0x10 != 0),
		Metadata:       Values{},
	}
	var truncated error
	size := firstWordLen + int(b[1])*4
	switch {
	case b[1] == toTheEnd:
		size = len(b)
		if size < firstWordLen+toTheEnd*4 {
			truncated = fmt.Errorf("%w: Report Length says at least 255 words, %d bytes are there", ErrTruncated, size-firstWordLen)
		}
	case size > len(b):
		truncated = fmt.Errorf("%w: Report Length says %d bytes, %d are there", ErrTruncated, size-firstWordLen, len(b)-firstWordLen)
		size = len(b)
	}
	if d.Strict && (b[0]>>4 > 2 || b[0]&0xf > 5 || b[3]&0xf != 0) {
		return r, size, fmt.Errorf("%w: reserved values in the individual report header", ErrNotReport)
	}
	if d.Strict && binary.BigEndian.Uint32(b) == 0 { // NTP and others have zeros there
		return r, size, fmt.Errorf("%w: an individual report that says nothing", ErrNotReport)
	}
	if kind := FindTransparentSecurity(b); kind != NotTransparentSecurity {
		d.decodeTransparentSecurity(kind, r, b)
		return r, len(b), nil
	}
	return r, size, errors.Join(truncated, d.decodeContents(r, b[firstWordLen:size], truncated != nil))
}

// decodeContents decodes the main and inner contents b. With cut, b is known to
// be short, so that it is no news when its own lengths go beyond it.
func (d *Decoder) decodeContents(r *Report, b []byte, cut bool) error {
	var err error
	switch report.RepType(*r.RepType) {
	case report.InnerOnly: // MD Length is to be ignored
	case report.INT:
		if b, err = r.takeMain(b, cut); err != nil {
			return err
		}
	default: // IOAM and reserved: main contents are not defined
		r.Inner = Inner{Type: "unknown", Length: len(b), Data: clone(b)}
		return nil
	}
	return d.decodeInner(r, b, cut)
}

// takeMain reads the main contents of RepType 1 and returns the bytes behind them.
func (r *Report) takeMain(b []byte, cut bool) ([]byte, error) {
	if len(b) < intMainLen {
		if cut {
			return nil, nil
		}
		return nil, fmt.Errorf("Report Length says %d bytes, main contents of INT are at least 8", len(b))
	}
	r.setMain(b)
	b = b[intMainLen:]
	md := int(*r.MDLength) * 4
	if md > len(b) {
		if !cut {
			return nil, fmt.Errorf("MD Length says %d bytes, %d are left of the report", md, len(b))
		}
		r.Metadata, _ = repBits.read(*r.RepMdBits, b)
		return nil, nil
	}
	if need := repBits.size(*r.RepMdBits); need > md {
		r.Metadata, _ = repBits.read(*r.RepMdBits, b[:md])
		return b[md:], fmt.Errorf("MD Length says %d bytes, RepMdBits ask for %d", md, need)
	}
	var n int
	r.Metadata, n = repBits.read(*r.RepMdBits, b[:md])
	r.DSMetadata = clone(b[n:md])
	return b[md:], nil
}

// setMain reads the fixed part of the main contents of RepType 1.
func (r *Report) setMain(b []byte) {
	r.RepMdBits = ref(binary.BigEndian.Uint16(b))
	r.DomainSpecificID = ref(binary.BigEndian.Uint16(b[2:]))
	r.DSMdBits = ref(binary.BigEndian.Uint16(b[4:]))
	r.DSMdStatus = ref(binary.BigEndian.Uint16(b[6:]))
}

func clone(b []byte) Hex {
	if len(b) == 0 {
		return nil
	}
	return append(Hex(nil), b...)
}

// Lengths of headers, as package report writes them.
const (
	firstWordLen = 4
	intMainLen   = 8 // RepMdBits, Domain Specific ID, DSMdBits, DSMdstatus
	tlvHeaderLen = 4
	toTheEnd     = 0xff // Report Length: at least 255 words, to the end of the payload
)

// unknown is a word that the node could not provide.
const unknown = 1<<32 - 1
