// Package message reads messages of IPFIX (RFC 7011) over UDP, for one kind of data records: those that have three elements which
// a configuration names. It has the numbers of the wire, too, for who writes messages.
//
//	| version 2, 10 | length 2 | export time 4 | sequence number 4 | observation domain 4 |
//	| set id 2 | length 2 | templates, options templates or data records | more sets
//
// message.go has headers and sets, templates.go what a session has told of its data records, records.go these.
package message

import "encoding/binary"

// Numbers of the wire.
const (
	Version      = 10
	HeaderLen    = 16
	SetHeaderLen = 4

	TemplateSet        = 2
	OptionsTemplateSet = 3
	FirstTemplate      = 256 // sets of data have the id of their template

	EnterpriseBit = 1 << 15 // of an element's id: its enterprise number follows
	Variable      = 1<<16 - 1
	longLength    = 255 // of an element of variable length: two bytes with the length follow
)

var be = binary.BigEndian

// Header is that of a message.
type Header struct {
	Time     uint32 // of export, Unix seconds
	Sequence uint32 // data records that the session sent in the domain before this message, modulo 2^32
	Domain   uint32
}

// ReadHeader reads the header of m. It returns false if m is no message: the version, the length or that of a set is wrong.
func ReadHeader(m []byte) (h Header, ok bool) {
	if len(m) < HeaderLen || be.Uint16(m) != Version || int(be.Uint16(m[2:])) != len(m) {
		return h, false
	}
	for sets := m[HeaderLen:]; len(sets) > 0; {
		if _, _, sets, ok = nextSet(sets); !ok {
			return h, false
		}
	}
	return Header{Time: be.Uint32(m[4:]), Sequence: be.Uint32(m[8:]), Domain: be.Uint32(m[12:])}, true
}

// nextSet returns the id and the contents of the first set, and what follows it.
func nextSet(sets []byte) (id uint16, body, rest []byte, ok bool) {
	if len(sets) < SetHeaderLen {
		return 0, nil, nil, false
	}
	n := int(be.Uint16(sets[2:]))
	if n < SetHeaderLen || n > len(sets) {
		return 0, nil, nil, false
	}
	return be.Uint16(sets), sets[SetHeaderLen:n], sets[n:], true
}

// AppendHeader appends the header of a message, whose length SetLength writes.
func AppendHeader(b []byte, h Header) []byte {
	b = be.AppendUint16(b, Version)
	b = be.AppendUint16(b, 0)
	b = be.AppendUint32(b, h.Time)
	b = be.AppendUint32(b, h.Sequence)
	return be.AppendUint32(b, h.Domain)
}

// SetLength writes the length of a message, or of a set, into its header.
func SetLength(b []byte) { be.PutUint16(b[2:], uint16(len(b))) }

// Element names an information element.
type Element struct {
	Enterprise uint32 // 0: of IANA's registry
	ID         uint16
}

// NumWanted is how many elements a data record must have.
const NumWanted = 3

// Wanted are the elements that a data record must have, in the order of Data.
type Wanted [NumWanted]Element

// Data is what the wanted elements of one data record have. It is a part of the message.
type Data [NumWanted][]byte
