// Declares Message, Report, Inner: the decoded report as Go structs and JSON; ErrNotReport,
// ErrTruncated.

package decode

import (
	"encoding/hex"
	"errors"
	"time"

	"intsink/engine/report"
)

// Header is what all individual reports of one packet share.
type Header struct {
	// Version is 2, 1 or 0.5; the last has 0 on the wire.
	Version float64 `json:"version"`
	HwID    uint8   `json:"hw_id"`
	// SequenceNumber has 22 bits in version 2.0 and 32 in older ones.
	SequenceNumber uint32 `json:"sequence_number"`
	// NodeID is absent in a 0.5 report without a drop or switch local header.
	NodeID *uint32 `json:"node_id,omitempty"`
	// Sender is absent where the packet does not say which sink sent it.
	Sender *Sender `json:"sender,omitempty"`
}

// Sender is a report.Identity as decode shows it.
type Sender struct {
	Instance string    `json:"instance"` // 16 hexadecimal digits
	Began    time.Time `json:"began"`
	Sequence uint64    `json:"sequence"`
}

// SequenceBits returns the width of the sequence number.
func (h *Header) SequenceBits() int {
	if h.Version == report.Version {
		return 22
	}
	return 32
}

// Message is one decoded report packet.
type Message struct {
	Header
	Reports []Report
}

// Report is one decoded individual report. Pointers are nil for fields that
// its version does not have. Slices do not alias the input.
type Report struct {
	RepType *uint8 `json:"rep_type,omitempty"` // 2.0
	InType  *uint8 `json:"in_type,omitempty"`  // of older versions: what 2.0 would say
	// NextProtocol is NProt of 1.0 and NProto of 0.5.
	NextProtocol *uint8 `json:"next_protocol,omitempty"`
	// ReportLength and MDLength of 2.0 are in words, as on the wire.
	ReportLength *uint8 `json:"report_length,omitempty"`
	MDLength     *uint8 `json:"md_length,omitempty"`
	// HeaderLength is Length of 1.0: words of the whole report header.
	HeaderLength *uint8 `json:"header_length,omitempty"`

	Dropped        bool  `json:"dropped"`
	CongestedQueue bool  `json:"congested_queue"`
	TrackedFlow    bool  `json:"tracked_flow"`
	Intermediate   *bool `json:"intermediate,omitempty"` // 2.0

	RepMdBits        *uint16 `json:"rep_md_bits,omitempty"`
	DomainSpecificID *uint16 `json:"domain_specific_id,omitempty"`
	DSMdBits         *uint16 `json:"ds_md_bits,omitempty"`
	DSMdStatus       *uint16 `json:"ds_md_status,omitempty"`

	Metadata   Values `json:"metadata"`
	DSMetadata Hex    `json:"ds_metadata,omitempty"` // its layout is the domain's
	Inner      Inner  `json:"inner"`

	// Events are the names of the events that the report was sent for, and
	// Explained is more about them: where intsink says so, report.explain.
	Events    []string   `json:"events,omitempty"`
	Explained *Explained `json:"explained,omitempty"`

	// TransparentSecurity holds the fields of a drop report by that project's code.
	TransparentSecurity *TransparentSecurityDropped `json:"transparent_security,omitempty"`

	// DropReasonName is the name that DropReasons has for the drop_reason in Metadata.
	DropReasonName string `json:"drop_reason_name,omitempty"`

	// Problem is what is wrong with this report; the parts that could be read are shown.
	Problem string `json:"problem,omitempty"`
}

// Inner is an individual report's inner contents.
type Inner struct {
	// Type is none, tlv, ds_extension, ethernet, ipv4, ipv6 or unknown.
	Type   string     `json:"type"`
	Length int        `json:"length"` // bytes, padding included
	Flow   *Flow      `json:"flow,omitempty"`
	INT    *Stack     `json:"int,omitempty"`
	TLVs   []InnerTLV `json:"tlvs,omitempty"`
	Data   Hex        `json:"data,omitempty"` // of ds_extension and unknown
}

// InnerTLV is one TLV of a report's inner contents. The first packet among them
// gives Inner's Flow and INT, any other one its own.
type InnerTLV struct {
	Type     string  `json:"type"`   // ds_extension, ethernet, ipv4, ipv6 or unknown
	Length   int     `json:"length"` // bytes of data
	Template *uint16 `json:"template,omitempty"`
	Data     Hex     `json:"data,omitempty"`
	Flow     *Flow   `json:"flow,omitempty"`
	INT      *Stack  `json:"int,omitempty"`
}

// Hex is bytes that JSON shows as hexadecimal digits.
type Hex []byte

// MarshalText implements encoding.TextMarshaler.
func (h Hex) MarshalText() ([]byte, error) {
	return hex.AppendEncode(nil, h), nil
}

// ErrNotReport is in the chain of errors that say that a payload cannot be a
// telemetry report at all.
var ErrNotReport = errors.New("not a telemetry report")

// ErrTruncated is in the chain of errors that say that a payload ends before
// its lengths do.
var ErrTruncated = errors.New("truncated")

func ref[T any](v T) *T { return &v }
