// What JSON shows besides a record: the headers of the report and of INT, as on the wire.

package decode

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report/decode"
	"intsink/exporters/record"
)

// wire is what follows the record.
type wire struct {
	Packet int        `json:"packet"` // of the capture, or the datagram's number, from 1
	From   string     `json:"from"`
	To     string     `json:"to"`
	Header header     `json:"header"`
	INT    *intHeader `json:"int,omitempty"`
}

// header has the fields of the report's headers. Those that its version does not have are nil.
type header struct {
	Sequence     uint32  `json:"sequence_number"`
	Sender       *sender `json:"sender,omitempty"`
	NextProtocol *uint8  `json:"next_protocol,omitempty"` // NProt of 1.0 and NProto of 0.5
	ReportLength *uint8  `json:"report_length,omitempty"`
	MDLength     *uint8  `json:"md_length,omitempty"`
	HeaderLength *uint8  `json:"header_length,omitempty"` // of 1.0
	RepMdBits    *uint16 `json:"rep_md_bits,omitempty"`
	Reserved     bool    `json:"reserved,omitempty"` // a reserved bit or code point is used
}

// sender is a report.Identity.
type sender struct {
	Instance string    `json:"instance"` // 16 hexadecimal digits
	Began    time.Time `json:"began"`
	Sequence uint64    `json:"sequence"`
}

// intHeader has the shim and the header of INT, as far as the report shows them.
type intHeader struct {
	Type          string  `json:"type"`
	ShimLength    *uint8  `json:"shim_length,omitempty"` // words
	NPT           uint8   `json:"npt"`
	Version       *uint8  `json:"ver,omitempty"`
	Discard       bool    `json:"discard"`
	HopExceeded   bool    `json:"max_hop_count_exceeded"`
	MTUExceeded   bool    `json:"mtu_exceeded"`
	HopML         *uint8  `json:"hop_ml,omitempty"` // words
	RemainingHops *uint8  `json:"remaining_hop_count,omitempty"`
	Bitmap        *uint16 `json:"instruction_bitmap,omitempty"`
	DomainID      *uint16 `json:"domain_specific_id,omitempty"`
	DSInstruction *uint16 `json:"ds_instruction,omitempty"`
	DSFlags       *uint16 `json:"ds_flags,omitempty"`
	Bytes         string  `json:"bytes,omitempty"` // of all INT, from the first shim on
}

// appendWire appends to b, an object without its end, the headers of the report, and of its INT where i is not nil, and
// ends the object.
func appendWire(b []byte, g datagram, h *decode.Header, r *decode.Report, i *inthdr.Info, frame []byte) []byte {
	w := wire{Packet: g.number, From: g.from.String(), To: g.to.String(), Header: headerOf(h, r)}
	if i != nil {
		w.INT = intHeaderOf(i, frame)
	}
	fields, err := json.Marshal(w)
	if err != nil { // cannot be: numbers and texts encode always
		panic(err)
	}
	return append(append(b, ','), fields[1:]...)
}

func headerOf(h *decode.Header, r *decode.Report) header {
	w := header{Sequence: h.Sequence, Reserved: r.Reserved}
	if h.Identified {
		id := h.Identity
		w.Sender = &sender{fmt.Sprintf("%016x", id.Instance), time.Unix(0, id.Began).UTC(), id.Sequence}
	}
	switch h.Version {
	case record.Version20:
		w.ReportLength, w.MDLength = &r.Length, &r.MDLength
		if r.HasMain {
			w.RepMdBits = &r.RepMdBits
		}
	case record.Version10:
		w.NextProtocol, w.HeaderLength, w.RepMdBits = &r.NextProtocol, &r.Length, &r.RepMdBits
	default:
		w.NextProtocol = &r.NextProtocol
	}
	return w
}

func intHeaderOf(i *inthdr.Info, frame []byte) *intHeader {
	w := &intHeader{Type: i.Type.String(), NPT: i.NPT, Discard: i.Discard, HopExceeded: i.HopExceeded, MTUExceeded: i.MTUExceeded}
	n := len(frame)
	if at := int(i.Shim); at > 0 && at+inthdr.ShimLen <= n && i.Type.OfINT() {
		length := shimLength(i, frame[at:])
		w.ShimLength = &length
	}
	if at := int(i.Start); at < min(int(i.End), n) {
		w.Bytes = hex.EncodeToString(frame[at:min(int(i.End), n)])
	}
	at := int(i.Stack)
	if i.Type == inthdr.Destination || !i.Type.OfINT() || at == 0 || at > n {
		return w
	}
	version := frame[at-i.Format.HeaderLen()] >> 4
	if i.Format == inthdr.Format2016 {
		version >>= 2
	}
	w.Version, w.Bitmap = &version, &i.Bitmap
	if i.Type == inthdr.MD {
		w.HopML, w.RemainingHops = &i.HopML, &i.RemainingHops
	}
	if i.Format == inthdr.Format2 {
		flags := binary.BigEndian.Uint16(frame[at-2:])
		w.DomainID, w.DSInstruction, w.DSFlags = &i.DomainID, &i.DSInstruction, &flags
	}
	return w
}

// shimLength returns the Length of the shim, or of the option of Geneve, that b begins with.
func shimLength(i *inthdr.Info, b []byte) uint8 {
	switch {
	case i.Marking == inthdr.ByGeneve:
		return b[3] & 0x1f
	case i.Format != inthdr.Format2 && b[1] == 0: // of INT 1.0 and June 2016
		return b[2]
	}
	return b[1]
}
