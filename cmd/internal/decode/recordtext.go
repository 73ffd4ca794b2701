// Writes a record as text: events, flags, own values, flow, tunnels, hops.

package decode

import (
	"fmt"
	"strings"
	"time"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
	"intsink/exporters/record"
)

// reportText is one report in a few lines without the last line feed: what it is, why it was sent, the node's own values, the
// flow and the tunnels around and inside of it, INT.
func reportText(g datagram, r *record.Record, h *decode.Header, raw *decode.Report, i *inthdr.Info) string {
	lines := []string{firstLine(g, r, h, raw)}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if r.Has(record.KnownExplanation) {
		add("events %s", explainedText(r))
	}
	for k := range r.Episodes {
		add("episode %s", episodeText(&r.Episodes[k]))
	}
	if r.Sink.Known != 0 {
		add("sink %s", fieldsText(r.Sink.AppendJSON(nil)))
	}
	if r.Has(record.KnownDropReason) {
		add("drop_reason %d %s", r.DropReason, report.DropReasons[r.DropReason])
	}
	if len(r.DSMetadata) > 0 {
		add("ds_metadata %x", r.DSMetadata)
	}
	if flow := flowText(r); flow != "" {
		add("flow %s", flow)
	}
	for _, t := range []struct {
		name string
		of   *record.Headers
	}{{"outer", &r.Outer}, {"inner", &r.Inner}} {
		if id := t.of.AppendFlow(nil); len(id) > 0 {
			add("%s %s", t.name, id)
		}
	}
	if i != nil {
		add("int %s", intText(r, i))
	}
	if len(r.Data) > 0 {
		add("data %x", r.Data)
	}
	for k := range r.TLVs {
		add("tlv %d template %d %x", r.TLVs[k].Type, r.TLVs[k].Template, r.TLVs[k].Data)
	}
	return strings.Join(lines, "\n  ")
}

// firstLine says where a report comes from, and what it is.
func firstLine(g datagram, r *record.Record, h *decode.Header, raw *decode.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s", g.number, g.time.UTC().Format(time.RFC3339Nano), g.from)
	fmt.Fprintf(&b, " version %s", [...]string{record.Version05: "0.5", record.Version10: "1.0", record.Version20: "2.0"}[r.Version])
	if r.Has(record.KnownNode) {
		fmt.Fprintf(&b, " node %d", r.NodeID)
	}
	fmt.Fprintf(&b, " hw_id %d sequence %d", h.HwID, h.Sequence)
	for _, f := range []struct {
		set  bool
		name string
	}{{r.Dropped, "dropped"}, {r.Congested, "congested"}, {r.Tracked, "tracked"}, {r.Intermediate, "intermediate"}} {
		if f.set {
			b.WriteString(" " + f.name)
		}
	}
	if h.Identified {
		fmt.Fprintf(&b, " sender %016x since %s", h.Identity.Instance, time.Unix(0, h.Identity.Began).UTC().Format(time.RFC3339))
	}
	fmt.Fprintf(&b, " %s %d bytes", contentsText(raw), len(raw.Inner))
	if r.Problem != decode.NoProblem {
		b.WriteString(" PROBLEM: " + r.Problem.Text())
	}
	return b.String()
}

// contentsText names the type of the inner contents.
func contentsText(r *decode.Report) string {
	names := [...]string{report.None: "none", report.TLV: "tlv", report.DSExtension: "ds_extension", report.Ethernet: "ethernet", report.IPv4: "ipv4", report.IPv6: "ipv6"}
	if int(r.InType) < len(names) && r.Defined() {
		return names[r.InType]
	}
	return fmt.Sprintf("rep_type %d in_type %d", r.RepType, r.InType)
}

// explainedText returns the text of the explanation in a report.
func explainedText(r *record.Record) string {
	var b strings.Builder
	for bit, name := range report.EventNames {
		if r.Events>>bit&1 != 0 {
			b.WriteString("," + name)
		}
	}
	if r.Has(record.KnownValue) {
		b.WriteString(":")
		if r.Has(record.KnownEventNode) {
			fmt.Fprintf(&b, " node %d", r.EventNode)
		}
		fmt.Fprintf(&b, " %d", r.EventValue)
		if r.Has(record.KnownReference) {
			fmt.Fprintf(&b, " against %d", r.Reference)
		}
	}
	fmt.Fprintf(&b, " (%d packets, %d bytes, %d suppressed, %d lost, %d dropped)", r.FlowPackets, r.FlowBytes, r.Suppressed, r.Lost, r.Drops)
	return strings.TrimPrefix(b.String(), ",")
}

// episodeText is an episode on one line: where, how long, its peak, who filled the queue and who waited.
func episodeText(e *record.Episode) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d: node %d", e.ID, e.Node)
	if e.Egress != 1<<16-1 {
		fmt.Fprintf(&b, " egress %d", e.Egress)
	}
	fmt.Fprintf(&b, " queue %d, %s for %v, %d packets, %d bytes", e.Queue, time.Unix(0, e.Begin).UTC().Format(time.RFC3339Nano), time.Duration(e.End-e.Begin), e.Packets, e.Bytes)
	if e.Peak.Latency != 0 {
		fmt.Fprintf(&b, ", peak %v", time.Duration(e.Peak.Latency))
	}
	if e.UsualLatency != 0 {
		fmt.Fprintf(&b, " against %v", time.Duration(e.UsualLatency))
	}
	if e.Peak.Occupancy != 0 {
		fmt.Fprintf(&b, ", occupancy %d", e.Peak.Occupancy)
	}
	who := "culprit"
	if e.Doubt != report.NoDoubt {
		who = "in it"
		fmt.Fprintf(&b, ", %s: who fills it is not known", e.Doubt)
	}
	for i := range e.NumCulprits {
		f := &e.Culprits[i]
		fmt.Fprintf(&b, ", %s %s %d bytes", who, record.AppendEpisodeFlow(nil, f), f.Sum)
	}
	if e.OtherBytes > 0 {
		fmt.Fprintf(&b, ", flows without a record %d bytes", e.OtherBytes)
	}
	for i := range e.NumVictims {
		f := &e.Victims[i]
		fmt.Fprintf(&b, ", victim %s %v", record.AppendEpisodeFlow(nil, f), time.Duration(f.Sum))
	}
	return b.String()
}

// flowText returns the flow's id and what else tells its packets apart.
func flowText(r *record.Record) string {
	var b strings.Builder
	switch id := r.AppendFlow(nil); {
	case len(id) > 0:
		b.Write(id)
	case r.Has(record.KnownAddresses):
		fmt.Fprintf(&b, "%s-%s protocol %d", r.Source, r.Destination, r.Protocol)
	case r.Has(record.KnownMACs):
		fmt.Fprintf(&b, "%x-%x", r.SourceMAC, r.DestinationMAC)
	}
	for _, id := range r.VLANs {
		fmt.Fprintf(&b, " vlan %d", id)
	}
	if r.Has(record.KnownVNI) {
		fmt.Fprintf(&b, " vni %d", r.VNI)
	}
	if r.DSCP != 0 {
		fmt.Fprintf(&b, " dscp %d", r.DSCP)
	}
	return b.String()
}

// formats are what is said of those other than that of INT 2.
var formats = map[inthdr.Format]string{inthdr.Format1: " version 1.0", inthdr.Format2016: " of 2016", inthdr.FormatGEANT: " version 1.0 of GEANT"}

// intText is INT on one line, the source's hop first.
func intText(r *record.Record, i *inthdr.Info) string {
	var b strings.Builder
	b.WriteString(i.Type.String())
	b.WriteString(formats[i.Format])
	if i.Discard {
		b.WriteString(" discard")
	}
	for k := range r.Hops {
		b.WriteString(" [" + fieldsText(r.Hops[k].AppendJSON(nil)) + "]")
	}
	if len(r.SourceMetadata) > 0 {
		fmt.Fprintf(&b, " source_metadata=%x", r.SourceMetadata)
	}
	for _, f := range []struct {
		flag record.Flags
		name string
	}{{record.HopLimit, "hop_limit"}, {record.MTUExceeded, "mtu_exceeded"}, {record.Truncated, "truncated"}} {
		if r.Flags&f.flag != 0 {
			b.WriteString(" " + f.name)
		}
	}
	if r.INTProblem != inthdr.ReasonNone {
		fmt.Fprintf(&b, " PROBLEM: %s: %s", r.INTProblem, r.INTProblem.Doc())
	}
	return b.String()
}

// fieldsText is a flat JSON object as name=value.
func fieldsText(object []byte) string {
	fields := strings.Split(strings.Trim(string(object), "{}"), `,"`)
	for k, f := range fields {
		name, value, _ := strings.Cut(f, `":`)
		fields[k] = strings.TrimPrefix(name, `"`) + "=" + strings.Trim(value, `"`)
	}
	return strings.Join(fields, " ")
}
