package decode

import "intsink/engine/report"

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

// explainedBy fills in what a TLV with our template says.
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
