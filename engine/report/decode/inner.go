// Reads inner contents of a report by InType, the TLVs in them, the Explanation, the name
// of a drop reason.

package decode

import (
	"encoding/binary"
	"fmt"

	"intsink/engine/report"
)

var inTypes = [...]string{report.None: "none", report.TLV: "tlv", report.DSExtension: "ds_extension", report.Ethernet: "ethernet", report.IPv4: "ipv4", report.IPv6: "ipv6"}

var tlvTypes = [...]report.InType{report.TLVDSExtension: report.DSExtension, report.TLVEthernet: report.Ethernet, report.TLVIPv4: report.IPv4, report.TLVIPv6: report.IPv6}

// decodeInner decodes the inner contents b by r's InType.
func (d *Decoder) decodeInner(r *Report, b []byte, cut bool) error {
	r.Inner = Inner{Type: "unknown", Length: len(b)}
	t := report.InType(*r.InType)
	if int(t) < len(inTypes) {
		r.Inner.Type = inTypes[t]
	}
	switch t {
	case report.None:
		if len(b) > 0 {
			r.Inner.Data = clone(b)
			return fmt.Errorf("InType says none, %d bytes are there", len(b))
		}
	case report.TLV:
		return d.decodeTLVs(r, b, cut)
	case report.Ethernet, report.IPv4, report.IPv6:
		r.Inner.Flow, r.Inner.INT = d.dissect(t, b)
		if d.Strict && t != report.Ethernet && r.Inner.Flow.Source == "" {
			return fmt.Errorf("%w: InType says %s, the packet does not", ErrNotReport, r.Inner.Type)
		}
	default:
		r.Inner.Data = clone(b)
	}
	return nil
}

// decodeTLVs decodes the TLVs that fill b.
func (d *Decoder) decodeTLVs(r *Report, b []byte, cut bool) error {
	in := &r.Inner
	for at := 0; at < len(b); {
		if len(b)-at < tlvHeaderLen {
			if cut {
				return nil
			}
			return fmt.Errorf("TLV header at byte %d of the inner contents: %d of 4 bytes", at, len(b)-at)
		}
		h := b[at : at+tlvHeaderLen]
		data := b[at+tlvHeaderLen:]
		size := int(h[1]) * 4
		var err error
		if size > len(data) && !cut {
			err = fmt.Errorf("TLV at byte %d of the inner contents says %d bytes, %d are there", at, size, len(data))
		}
		data = data[:min(size, len(data))]
		tlv := d.decodeTLV(in, h, data)
		if tlv.Template != nil && *tlv.Template == report.ExplainTemplate {
			r.explainedBy(data)
		}
		in.TLVs = append(in.TLVs, tlv)
		if err != nil {
			return err
		}
		at += tlvHeaderLen + size
	}
	return nil
}

func (d *Decoder) decodeTLV(in *Inner, h, data []byte) InnerTLV {
	out := InnerTLV{Type: "unknown", Length: len(data)}
	t := report.DSExtension
	if code := int(h[0] >> 4); code < len(tlvTypes) {
		t = tlvTypes[code]
		out.Type = inTypes[t]
	}
	if t == report.DSExtension { // or unknown
		out.Template = ref(binary.BigEndian.Uint16(h[2:]))
		out.Data = clone(data)
		return out
	}
	flow, stack := d.dissect(t, data)
	if in.Flow == nil {
		in.Flow, in.INT = flow, stack
	} else {
		out.Flow, out.INT = flow, stack
	}
	return out
}

// Explained is an Explanation as decode shows it. Numbers of a flow are absent
// where there are none.
type Explained struct {
	Suppressed uint32  `json:"suppressed"`
	Packets    uint64  `json:"packets"`
	Bytes      uint64  `json:"bytes"`
	Lost       uint32  `json:"lost"`
	Drops      uint32  `json:"drops"`
	NodeID     *uint32 `json:"node_id,omitempty"`
	Reference  *uint32 `json:"reference,omitempty"`
	Value      *uint32 `json:"value,omitempty"`
}

// explainedBy fills in the fields of a TLV that holds an Explanation.
func (r *Report) explainedBy(data []byte) {
	var e report.Explanation
	if !e.Get(data) {
		return
	}
	r.Events = []string{}
	for bit, name := range report.EventNames {
		if e.Events>>bit&1 != 0 {
			r.Events = append(r.Events, name)
		}
	}
	known := func(v uint32) *uint32 {
		if v == unknown {
			return nil
		}
		return &v
	}
	r.Explained = &Explained{
		Suppressed: e.Suppressed, Packets: e.Packets, Bytes: e.Bytes, Lost: e.Lost, Drops: e.Drops,
		NodeID: known(e.Trigger.NodeID), Reference: known(e.Trigger.Reference), Value: known(e.Trigger.Value),
	}
}

// nameDropReason fills in DropReasonName where r's metadata has a drop reason. That of
// Transparent Security's drop reports stands for a rule of theirs.
func (r *Report) nameDropReason() {
	if r.TransparentSecurity != nil {
		return
	}
	if code, ok := r.Metadata.Get("drop_reason"); ok {
		r.DropReasonName = report.DropReasons[uint8(code)]
	}
}
