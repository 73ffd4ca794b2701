// Identity: writes and reads which sink sent a report packet, as an individual report in front of the others.

package report

import "encoding/binary"

// IdentityTemplate is the TLV Data Template of Identity: "ID".
const IdentityTemplate = 0x4944

// IdentityLen is the length of an Identity in bytes.
const IdentityLen = 24

// IdentityReportLen is the length of the individual report that holds an Identity.
const IdentityReportLen = firstWordLen + tlvHeaderLen + IdentityLen

// Identity says which sequence of report packets one belongs to, and where it stands in it: domain specific
// extension data in a TLV of InType 1, in a report of its own that is the first of its packet.
//
//	| instance 64 | began 64 | sequence 64 |
type Identity struct {
	Instance uint64 // a random number that a sink keeps for its life
	Began    int64  // when the sequence began, Unix nanoseconds: at the start of the process, or when the collector came to it
	Sequence uint64 // that of the group header, which has its lower 22 bits
}

// identityHead is what stands in front of an Identity in its report.
var identityHead = [firstWordLen + tlvHeaderLen]byte{
	byte(InnerOnly)<<4 | byte(TLV), (IdentityReportLen - firstWordLen) / 4, 0, 0,
	byte(TLVDSExtension) << 4, IdentityLen / 4, IdentityTemplate >> 8, IdentityTemplate & 0xff,
}

// Identify makes an Identity the first report of a packet of 2.0 that has none yet; Seal fills in the
// sequence. It does not count in Reports. A packet without room for it stays as it is.
func (p *Packet) Identify(instance uint64, began int64) {
	if p.format != Format20 || p.n != GroupHeaderLen || len(p.buf) < GroupHeaderLen+IdentityReportLen {
		return
	}
	b := p.buf[GroupHeaderLen:]
	copy(b, identityHead[:])
	binary.BigEndian.PutUint64(b[len(identityHead):], instance)
	binary.BigEndian.PutUint64(b[len(identityHead)+8:], uint64(began))
	p.n += IdentityReportLen
	p.identified = true
}

// ReadIdentity reads the Identity at the start of b, which begins with an individual report; false if that
// has none.
func ReadIdentity(b []byte) (id Identity, ok bool) {
	if len(b) < IdentityReportLen || [len(identityHead)]byte(b) != identityHead {
		return id, false
	}
	b = b[len(identityHead):]
	return Identity{binary.BigEndian.Uint64(b), int64(binary.BigEndian.Uint64(b[8:])), binary.BigEndian.Uint64(b[16:])}, true
}
