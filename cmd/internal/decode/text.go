// Writes a decoded report as text: events, flags, metadata, flow, hop stack.

package decode

import (
	"fmt"
	"strings"
	"time"

	"intsink/engine/report/decode"
)

// reportText is one report in one to five lines: what it is, why it was sent, the
// node's own metadata, the flow, INT.
func reportText(g datagram, h *decode.Header, r *decode.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s", g.number, g.time.UTC().Format(time.RFC3339Nano), g.from)
	fmt.Fprintf(&b, " version %.1f", h.Version)
	if h.NodeID != nil {
		fmt.Fprintf(&b, " node %d", *h.NodeID)
	}
	fmt.Fprintf(&b, " hw_id %d sequence %d%s", h.HwID, h.SequenceNumber, reportFlags(r))
	if h.Sender != nil {
		fmt.Fprintf(&b, " sender %s since %s", h.Sender.Instance, h.Sender.Began.Format(time.RFC3339))
	}
	fmt.Fprintf(&b, " inner %s %d bytes", r.Inner.Type, r.Inner.Length)
	if r.Problem != "" {
		b.WriteString(" PROBLEM: " + strings.ReplaceAll(r.Problem, "\n", "; "))
	}
	b.WriteByte('\n')
	if r.Explained != nil {
		b.WriteString("  events " + explainedText(r) + "\n")
	}
	if len(r.Metadata) > 0 || len(r.DSMetadata) > 0 {
		b.WriteString("  metadata" + valuesText(r.Metadata, r.DSMetadata))
		if r.DropReasonName != "" {
			b.WriteString(" drop_reason_name=" + r.DropReasonName)
		}
		b.WriteByte('\n')
	}
	if f := r.Inner.Flow; f != nil {
		b.WriteString("  flow " + flowText(f) + "\n")
	}
	if s := r.Inner.INT; s != nil {
		b.WriteString("  int " + stackText(s) + "\n")
	}
	return b.String()
}

// explainedText returns the text of the Explanation in a report.
func explainedText(r *decode.Report) string {
	var b strings.Builder
	e := r.Explained
	b.WriteString(strings.Join(r.Events, ","))
	if e.Value != nil {
		b.WriteString(":")
		if e.NodeID != nil {
			fmt.Fprintf(&b, " node %d", *e.NodeID)
		}
		fmt.Fprintf(&b, " %d", *e.Value)
		if e.Reference != nil {
			fmt.Fprintf(&b, " against %d", *e.Reference)
		}
	}
	fmt.Fprintf(&b, " (%d packets, %d bytes, %d suppressed, %d lost, %d dropped)", e.Packets, e.Bytes, e.Suppressed, e.Lost, e.Drops)
	return b.String()
}

func reportFlags(r *decode.Report) string {
	out := ""
	for _, f := range []struct {
		set  bool
		name string
	}{
		{r.Dropped, " dropped"},
		{r.CongestedQueue, " congested_queue"},
		{r.TrackedFlow, " tracked_flow"},
		{r.Intermediate != nil && *r.Intermediate, " intermediate"},
	} {
		if f.set {
			out += f.name
		}
	}
	return out
}

func valuesText(v decode.Values, ds decode.Hex) string {
	var b strings.Builder
	for _, x := range v {
		if x.Null {
			fmt.Fprintf(&b, " %s=-", x.Name)
		} else {
			fmt.Fprintf(&b, " %s=%d", x.Name, x.Number)
		}
	}
	if len(ds) > 0 {
		fmt.Fprintf(&b, " ds_metadata=%x", []byte(ds))
	}
	return b.String()
}

func flowText(f *decode.Flow) string {
	var b strings.Builder
	if f.Source == "" {
		fmt.Fprintf(&b, "%s > %s", f.SourceMAC, f.DestinationMAC)
		if f.EtherType != nil {
			fmt.Fprintf(&b, " ethertype 0x%04x", *f.EtherType)
		}
		return b.String()
	}
	if f.Protocol != nil {
		fmt.Fprintf(&b, "%s ", protocolName(*f.Protocol))
	}
	b.WriteString(endText(f.Source, f.SourcePort) + " > " + endText(f.Destination, f.DestinationPort))
	for _, id := range f.VLANs {
		fmt.Fprintf(&b, " vlan %d", id)
	}
	if f.DSCP != nil && *f.DSCP != 0 {
		fmt.Fprintf(&b, " dscp %d", *f.DSCP)
	}
	return b.String()
}

func endText(address string, port *uint16) string {
	switch {
	case port == nil:
		return address
	case strings.Contains(address, ":"):
		return fmt.Sprintf("[%s]:%d", address, *port)
	}
	return fmt.Sprintf("%s:%d", address, *port)
}

func protocolName(p uint8) string {
	switch p {
	case 1:
		return "icmp"
	case 6:
		return "tcp"
	case 17:
		return "udp"
	case 47:
		return "gre"
	case 50:
		return "esp"
	case 58:
		return "icmpv6"
	}
	return fmt.Sprintf("protocol %d", p)
}

// stackText is INT on one line, the newest hop first.
func stackText(s *decode.Stack) string {
	var b strings.Builder
	b.WriteString(s.Type)
	if s.Version != nil && *s.Version != 2 {
		fmt.Fprintf(&b, " version %d", *s.Version)
	}
	for _, f := range []struct {
		set  bool
		name string
	}{
		{s.Discard, " discard"},
		{s.HopExceeded != nil && *s.HopExceeded, " max_hop_count_exceeded"},
		{s.MTUExceeded != nil && *s.MTUExceeded, " mtu_exceeded"},
	} {
		if f.set {
			b.WriteString(f.name)
		}
	}
	for _, h := range s.Hops {
		b.WriteString(" [" + strings.TrimSpace(valuesText(h.Values, h.DSMetadata)) + "]")
	}
	if len(s.Source) > 0 {
		fmt.Fprintf(&b, " source_metadata=%x", []byte(s.Source))
	}
	if s.Truncated {
		b.WriteString(" truncated")
	}
	if s.Problem != "" {
		b.WriteString(" PROBLEM: " + s.Problem)
	}
	if s.Next != nil {
		b.WriteString("; " + stackText(s.Next))
	}
	return b.String()
}
