// Individual: one report of 2.0 with header bits, RepType, InType, main contents and, as inner
// contents, the packet; Domain Specific ID "TS".

package report

import "encoding/binary"

// Version of the group header: Format20.
const Version = 2

// RepType is the type of an individual report.
type RepType uint8

const (
	InnerOnly RepType = 0
	INT       RepType = 1
	IOAM      RepType = 2
)

// Known reports whether 2.0 has that type.
func (t RepType) Known() bool { return t <= IOAM }

// InType is the type of an individual report's inner contents.
type InType uint8

const (
	None        InType = 0
	TLV         InType = 1
	DSExtension InType = 2
	Ethernet    InType = 3
	IPv4        InType = 4
	IPv6        InType = 5
)

const (
	firstWordLen = 4
	intMainLen   = 8 // RepMdBits, Domain Specific ID, DSMdBits, DSMdstatus
	maxMdWords   = 0xff
)

// MostBeforeInner is how many bytes a report has at most in front of its metadata and inner contents.
const MostBeforeInner = firstWordLen + intMainLen

// MaxMetadata is how many bytes of metadata MD Length can express.
const MaxMetadata = maxMdWords * 4

// Individual is one report: what happened to one packet. Format10 and Format05
// have Own and RepMdBits for the metadata, and D, Q, F, InType and Inner of the
// rest.
type Individual struct {
	RepType        RepType
	InType         InType
	Dropped        bool // D
	CongestedQueue bool // Q
	TrackedFlow    bool // F
	Intermediate   bool // I: transit nodes only

	// Main contents of RepType 1; ignored otherwise.
	RepMdBits        uint16
	DomainSpecificID uint16
	DSMdBits         uint16
	DSMdStatus       uint16
	Metadata         []byte // baseline then domain specific, as the bits say; a multiple of four

	INTEnd int    // where INT ends in the packet that is shown, from where that begins; 0: it has none. It is not written
	Inner  []byte // padded with zeros to a multiple of four; ignored for InType None

	// Own is read in place of Metadata for formats before 2.0, whose layouts differ. RepMdBits
	// has the bits of 2.0; values that a format has no place for are left out.
	Own *Metadata
}

// inner is what is written behind the main contents: nothing for InType None.
func (r *Individual) inner() []byte {
	if r.InType == None {
		return nil
	}
	return r.Inner
}

// words returns the Report Length: words after the first.
func (r *Individual) words() int {
	n := (len(r.inner()) + 3) / 4
	if r.RepType == INT {
		n += (intMainLen + len(r.Metadata)) / 4
	}
	return n
}

// sound reports whether MD Length can express r's metadata.
func (r *Individual) sound() bool {
	return r.RepType != INT || len(r.Metadata)%4 == 0 && len(r.Metadata) <= maxMdWords*4
}

// put writes r to b, which is exactly as long as r, with the given Report
// Length.
func (r *Individual) put(b []byte, length uint8) {
	b[0] = uint8(r.RepType)<<4 | uint8(r.InType)
	b[1] = length
	b[2] = 0 // MD Length
	b[3] = bit(r.Dropped, 7) | bit(r.CongestedQueue, 6) | bit(r.TrackedFlow, 5) | bit(r.Intermediate, 4)
	at := firstWordLen
	if r.RepType == INT {
		b[2] = uint8(len(r.Metadata) / 4)
		m := b[at : at+intMainLen]
		binary.BigEndian.PutUint16(m, r.RepMdBits)
		binary.BigEndian.PutUint16(m[2:], r.DomainSpecificID)
		binary.BigEndian.PutUint16(m[4:], r.DSMdBits)
		binary.BigEndian.PutUint16(m[6:], r.DSMdStatus)
		at += intMainLen
		at += copy(b[at:], r.Metadata)
	}
	at += copy(b[at:], r.inner())
	clear(b[at:])
}

func bit(set bool, at uint) uint8 {
	if set {
		return 1 << at
	}
	return 0
}

// TransparentSecurityID is the Domain Specific ID of Transparent Security, "TS".
const TransparentSecurityID = 0x5453

// packetLen is how many bytes the packet in r's inner contents has: all of them, or the last TLV of them.
func (r *Individual) packetLen() int {
	if r.InType == TLV {
		return max(len(r.Inner)-lastTLV(r.Inner)-tlvHeaderLen, 0)
	}
	return len(r.Inner)
}
