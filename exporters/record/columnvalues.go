// Puts the values of a record into columns.

package record

import (
	"net/netip"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
)

// put puts the record of a row.
func (c *filler) put(n int, r *Record) {
	h := &c.head
	h.v.put(n, SchemaVersion)
	h.kind.put(n, r.Type.String())
	b, at := h.id.open(n)
	h.id.close(r.appendID(b), at)
	h.time.put(n, max(r.Time, 0))
	h.received.put(n, max(r.Received, 0))
	putAddrs(h.exporter, n, r.Exporter)
	h.nodeID.putKnown(n, r.Known&KnownNode != 0, r.NodeID)
	h.hwID.put(n, r.HwID)
	v := versionFloats[r.Version]
	h.version.putKnown(n, v != 0, v)
	switch r.Type {
	case Report:
		h.append(n, r)
		c.reasons.append(n, r)
		c.packet.append(n, r)
		c.outer.append(n, &r.Outer)
		c.inner.append(n, &r.Inner)
		c.way.append(n, r)
		c.sink.append(n, &r.Sink)
		c.content.append(n, r)
		c.episodes.append(n, r.Episodes)
	case EpisodeType:
		c.episodes.append(n, r.Episodes)
	case Gap, Stats:
		c.stream.append(n, r)
	}
}

func putAddrs(c *addrs, row int, a netip.Addr) {
	switch {
	case a.Is4():
		four, i := a.As4(), uint(row)%chunk
		be.PutUint64(c.now[i][:], 0)
		be.PutUint64(c.now[i][8:], 0xffff<<32|uint64(be.Uint32(four[:])))
		c.set |= 1 << i
	case a.IsValid():
		c.put(row, a.As16())
	}
}

// append sets what only reports have.
func (h *headColumns) append(n int, r *Record) {
	h.sequence.put(n, r.Sequence)
	h.index.put(n, r.Index)
	if r.Known&KnownInstance != 0 {
		b, at := h.instance.open(n)
		h.instance.close(appendHex64(b, r.Instance), at)
	}
	h.repType.putKnown(n, r.Known&KnownRepType != 0, uint8(r.RepType))
	h.inType.putKnown(n, r.Known&KnownInType != 0, uint8(r.InType))
	h.intermediate.putKnown(n, r.Known&KnownRepType != 0 && r.Intermediate, 1)
	if r.Known&KnownMain != 0 {
		h.domain.put(n, r.Domain)
		h.bits.put(n, r.DSMdBits)
		h.status.put(n, r.DSMdStatus)
	}
	if r.Problem != decode.NoProblem {
		h.problem.put(n, r.Problem.String())
	}
}

// putEach sets a row to the names of the bits that are set.
func putEach(c *list, of *texts, row int, set uint32, names []string) {
	if set == 0 {
		return
	}
	c.open(row)
	for bit, name := range names {
		if set>>bit&1 != 0 {
			of.put(c.next(), name)
		}
	}
	c.close()
}

func (w *reasonColumns) append(n int, r *Record) {
	if r.Known&KnownEvents != 0 {
		putEach(w.events, w.event, n, r.Events, report.EventNames[:])
	}
	w.dropped.putKnown(n, r.Dropped, 1)
	w.congested.putKnown(n, r.Congested, 1)
	w.tracked.putKnown(n, r.Tracked, 1)
	if r.Known&KnownDropReason != 0 {
		w.dropReason.put(n, r.DropReason)
		w.dropReasonName.put(n, report.DropReasons[r.DropReason])
	}
	if r.Known&KnownExplanation != 0 {
		w.suppressed.put(n, r.Suppressed)
		w.lost.put(n, r.Lost)
		w.flowPackets.put(n, r.FlowPackets)
		w.flowBytes.put(n, r.FlowBytes)
	}
	w.drops.putKnown(n, r.Known&(KnownDrops|KnownExplanation) != 0, r.Drops)
	w.eventNode.putKnown(n, r.Known&KnownEventNode != 0, r.EventNode)
	w.reference.putKnown(n, r.Known&KnownReference != 0, r.Reference)
	w.value.putKnown(n, r.Known&KnownValue != 0, r.EventValue)
}

// append sets the columns of h if it has addresses.
func (e *endColumns) append(n int, h *Headers) {
	if !h.Source.IsValid() {
		return
	}
	b, at := e.flow.open(n)
	e.flow.close(h.AppendFlow(b), at)
	putAddrs(e.source, n, h.Source)
	putAddrs(e.destination, n, h.Destination)
	e.sourcePort.putKnown(n, h.HasPorts, h.SourcePort)
	e.destinationPort.putKnown(n, h.HasPorts, h.DestinationPort)
	e.protocol.put(n, h.Protocol)
	e.dscp.put(n, h.DSCP)
}

func (p *packetColumns) append(n int, r *Record) {
	if r.Known&KnownAddresses != 0 {
		p.endColumns.append(n, &Headers{
			Source: r.Source, Destination: r.Destination, Protocol: r.Protocol, DSCP: r.DSCP,
			HasPorts: r.Known&KnownPorts != 0, SourcePort: r.SourcePort, DestinationPort: r.DestinationPort,
		})
		p.length.put(n, r.Length)
	}
	if len(r.VLANs) > 0 {
		p.vlans.open(n)
		for _, id := range r.VLANs {
			p.vlan.put(p.vlans.next(), id)
		}
		p.vlans.close()
	}
	p.tcpFlags.putKnown(n, r.Known&KnownTCPFlags != 0, r.TCPFlags)
	if r.Known&KnownMACs != 0 {
		b, at := p.sourceMAC.open(n)
		p.sourceMAC.close(appendMAC(b, &r.SourceMAC), at)
		b, at = p.destinationMAC.open(n)
		p.destinationMAC.close(appendMAC(b, &r.DestinationMAC), at)
	}
	p.deviceID.putHex(n, r.DeviceID)
	p.vni.putKnown(n, r.Known&KnownVNI != 0, r.VNI)
}

func (w *wayColumns) append(n int, r *Record) {
	if r.Known&KnownPath != 0 {
		b, at := w.path.open(n)
		w.path.close(appendHex64(b, r.Path), at)
	}
	w.hopCount.putKnown(n, r.Known&KnownHopCount != 0, r.HopCount)
	w.hops.open(n)
	for i := range r.Hops {
		w.hop.append(w.hops.next(), &r.Hops[i])
	}
	w.hops.close()
	w.latency.putKnown(n, r.Known&KnownLatency != 0, r.LatencyNs)
	if len(r.Links) > 0 {
		w.links.open(n)
		for _, l := range r.Links {
			row := w.links.next()
			w.from.put(row, l.From)
			w.to.put(row, l.To)
			w.between.put(row, l.LatencyNs)
		}
		w.links.close()
	}
	w.maxHop.putKnown(n, r.Known&KnownMaxHop != 0, r.MaxHop)
	w.metadata.putHex(n, r.SourceMetadata)
	putEach(w.flags, w.flag, n, uint32(r.Flags), flagNames[:])
	if r.INTType != 0 {
		w.intType.put(n, r.INTType.String())
	}
	if r.INTProblem != inthdr.ReasonNone {
		w.problem.put(n, r.INTProblem.String())
	}
}

func (v *valueColumns) append(n int, m *Hop) {
	k := m.Known
	v.ingress2.putKnown(n, k&HopIngress2 != 0, m.Ingress2)
	v.egress2.putKnown(n, k&HopEgress2 != 0, m.Egress2)
	v.latency.putKnown(n, k&HopLatency != 0, m.LatencyNs)
	v.queue.putKnown(n, k&HopQueue != 0, m.Queue)
	v.occupancy.putKnown(n, k&HopOccupancy != 0, m.Occupancy)
	v.ingressTime.putKnown(n, k&HopIngressTime != 0, int64(m.IngressTime))
	v.egressTime.putKnown(n, k&HopEgressTime != 0, int64(m.EgressTime))
	v.utilization.putKnown(n, k&HopTxUtilization != 0, m.TxUtilization)
	v.buffer.putKnown(n, k&HopBuffer != 0, m.Buffer)
	v.buffered.putKnown(n, k&HopBufferOccupancy != 0, m.BufferOccupancy)
}

func (h *hopColumns) append(n int, m *Hop) {
	k := m.Known
	h.nodeID.putKnown(n, k&HopNode != 0, m.NodeID)
	h.ingress.putKnown(n, k&HopIngress != 0, m.Ingress)
	h.egress.putKnown(n, k&HopEgress != 0, m.Egress)
	h.congestion.putKnown(n, k&HopCongestion != 0, m.Congestion)
	h.metadata.putHex(n, m.DSMetadata)
	h.valueColumns.append(n, m)
}

func (s *sinkColumns) append(n int, m *Sink) {
	s.ingress.putKnown(n, m.Known&HopIngress != 0, uint16(m.Ingress))
	s.egress.putKnown(n, m.Known&HopEgress != 0, uint16(m.Egress))
	s.valueColumns.append(n, m)
}

func (x *contentColumns) append(n int, r *Record) {
	x.metadata.putHex(n, r.DSMetadata)
	x.data.putHex(n, r.Data)
	if len(r.TLVs) == 0 {
		return
	}
	x.tlvs.open(n)
	for i := range r.TLVs {
		t, row := &r.TLVs[i], x.tlvs.next()
		x.kind.put(row, tlvNames[t.Type&0xf])
		x.template.putKnown(row, t.Type == report.TLVDSExtension, t.Template)
		x.tlvData.putHex(row, t.Data)
	}
	x.tlvs.close()
}

// append sets the columns of a gap, or of sums.
func (s *streamColumns) append(n int, r *Record) {
	if r.Type == Gap {
		s.first.put(n, r.First)
		s.last.putKnown(n, r.Count > 0, r.Last) // else it is not known where the gap ends
		s.count.putKnown(n, r.Count > 0, r.Count)
		return
	}
	s.received.put(n, r.Stats.Received)
	s.lost.put(n, r.Stats.Lost)
	s.late.put(n, r.Stats.Late)
	s.undecodable.put(n, r.Stats.Undecodable)
}
