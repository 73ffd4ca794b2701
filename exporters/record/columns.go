// Columns: records as columns of ClickHouse's Native format, those of deploy/collect/clickhouse.sql.

package record

import (
	"math"
	"net/netip"
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
)

// Columns holds records as columns. It is made to be used again: Reset keeps its memory.
type Columns struct {
	rows  int
	bytes int // of memory, when they were sealed
	all   named

	head     headColumns
	reasons  reasonColumns
	packet   packetColumns
	outer    endColumns
	inner    endColumns
	way      wayColumns
	sink     sinkColumns
	content  contentColumns
	episodes episodeColumns
	stream   streamColumns
}

// headColumns are the reporting node, the place of the record in its stream, and the report's headers.
type headColumns struct {
	v, hwID, repType, inType, intermediate *bytes8
	kind, id, instance, problem            *texts
	time, received                         *times
	exporter                               *addrs
	nodeID                                 *numbers4
	version                                *floats
	sequence                               *numbers8
	index, domain, bits, status            *numbers2
}

// reasonColumns say why the report was sent.
type reasonColumns struct {
	events                                               *list
	event, dropReasonName                                *texts
	dropped, congested, tracked, dropReason              *bytes8
	suppressed, lost, drops, eventNode, reference, value *numbers4
	flowPackets, flowBytes                               *numbers8
}

// endColumns are addresses, ports, protocol and DSCP of a packet.
type endColumns struct {
	flow                        *texts
	source, destination         *addrs
	sourcePort, destinationPort *numbers2
	protocol, dscp              *bytes8
}

// packetColumns are what else is known of the reported packet.
type packetColumns struct {
	endColumns
	vlans                               *list
	vlan                                *numbers2
	tcpFlags                            *bytes8
	length, vni                         *numbers4
	sourceMAC, destinationMAC, deviceID *texts
}

// wayColumns are the way of the reported packet.
type wayColumns struct {
	path, metadata, problem, flag *texts
	hopCount                      *numbers2
	hops, links, flags            *list
	hop                           hopColumns
	from, to, maxHop              *numbers4
	between, latency              *numbers8
}

// hopColumns are the metadata of one node.
type hopColumns struct {
	nodeID, ingress, egress, ingress2, egress2, latency, occupancy, utilization, buffered, congestion *numbers4
	queue, buffer                                                                                     *bytes8
	ingressTime, egressTime                                                                           *times
	metadata                                                                                          *texts
}

// sinkColumns are the metadata of the reporting node.
type sinkColumns struct {
	ingress, egress                                              *numbers2
	latency, occupancy, ingress2, egress2, utilization, buffered *numbers4
	queue, buffer                                                *bytes8
	ingressTime, egressTime                                      *times
}

// contentColumns are what the report has besides a packet and its explanation.
type contentColumns struct {
	metadata, data, kind, tlvData *texts
	tlvs                          *list
	template                      *numbers2
}

// streamColumns are those of gaps and of sums.
type streamColumns struct {
	first, last, count, received, lost, late, undecodable *numbers8
}

// NewColumns returns columns without rows. Their order is that of Fields.
func NewColumns() *Columns {
	c := new(Columns)
	a := &c.all
	c.head.define(a)
	c.reasons.define(a)
	c.packet.define(a)
	c.packet.vni = a.null4("vni")
	c.outer.tuple(a, "outer")
	c.inner.tuple(a, "inner")
	c.way.define(a)
	c.sink.define(a)
	c.content.define(a)
	c.episodes.define(a)
	c.stream.define(a)
	return c
}

func (h *headColumns) define(a *named) {
	h.v, h.kind, h.id = a.n1("v"), a.text("type"), a.text("id")
	h.time, h.received, h.exporter = a.time("time"), a.time("received"), a.nullAddr("exporter")
	h.nodeID, h.hwID, h.version = a.n4("node_id"), a.n1("hw_id"), a.nullFloat("version")
	h.nodeID.missing = math.MaxUint32
	h.sequence, h.index, h.instance = a.n8("sequence"), a.n2("index"), a.text("instance")
	h.repType, h.inType, h.intermediate = a.null1("rep_type"), a.null1("in_type"), a.flag("intermediate")
	h.domain, h.bits, h.status = a.null2("domain"), a.null2("ds_md_bits"), a.null2("ds_md_status")
	h.problem = a.text("problem")
}

func (w *reasonColumns) define(a *named) {
	w.events, w.event = a.texts("events")
	w.dropped, w.congested, w.tracked = a.flag("dropped"), a.flag("congested"), a.flag("tracked")
	w.dropReason, w.dropReasonName = a.null1("drop_reason"), a.text("drop_reason_name")
	w.suppressed, w.lost, w.drops = a.null4("suppressed"), a.null4("lost"), a.null4("drops")
	w.flowPackets, w.flowBytes = a.null8("flow_packets"), a.null8("flow_bytes")
	w.eventNode, w.reference, w.value = a.null4("event_node"), a.null4("reference"), a.null4("value")
}

func (e *endColumns) define(a *named) {
	e.flow, e.source, e.destination = a.text("flow"), a.nullAddr("source"), a.nullAddr("destination")
	e.sourcePort, e.destinationPort = a.null2("source_port"), a.null2("destination_port")
	e.protocol, e.dscp = a.null1("protocol"), a.null1("dscp")
}

func (e *endColumns) tuple(a *named, name string) {
	t := new(named)
	e.define(t)
	a.add(name, t)
}

func (p *packetColumns) define(a *named) {
	p.endColumns.define(a)
	elements := new(named)
	p.vlan = elements.n2("")
	p.vlans = a.list("vlan", p.vlan)
	p.tcpFlags, p.length = a.null1("tcp_flags"), a.null4("length")
	p.sourceMAC, p.destinationMAC, p.deviceID = a.text("source_mac"), a.text("destination_mac"), a.text("device_id")
}

func (w *wayColumns) define(a *named) {
	w.path, w.hopCount = a.text("path"), a.null2("hop_count")
	hop, link := new(named), new(named)
	w.hop.define(hop)
	w.hops, w.latency = a.list("hops", hop), a.null8("latency_ns")
	w.from, w.to, w.between = link.n4("from"), link.n4("to"), link.n8("latency_ns")
	w.links, w.maxHop, w.metadata = a.list("links", link), a.null4("max_hop"), a.text("source_metadata")
	w.flags, w.flag = a.texts("flags")
	w.problem = a.text("int_problem")
}

func (h *hopColumns) define(a *named) {
	h.nodeID, h.ingress, h.egress = a.null4("node_id"), a.null4("ingress"), a.null4("egress")
	h.ingress2, h.egress2 = a.null4("ingress2"), a.null4("egress2")
	h.latency, h.queue, h.occupancy = a.null4("latency_ns"), a.null1("queue"), a.null4("occupancy")
	h.ingressTime, h.egressTime = a.nullTime("ingress_time"), a.nullTime("egress_time")
	h.utilization, h.buffer = a.null4("tx_utilization"), a.null1("buffer")
	h.buffered, h.congestion, h.metadata = a.null4("buffer_occupancy"), a.null4("congestion"), a.text("ds_metadata")
}

func (s *sinkColumns) define(a *named) {
	t := new(named)
	s.ingress, s.egress = t.null2("ingress"), t.null2("egress")
	s.latency, s.queue, s.occupancy = t.null4("latency_ns"), t.null1("queue"), t.null4("occupancy")
	s.ingress2, s.egress2 = t.null4("ingress2"), t.null4("egress2")
	s.ingressTime, s.egressTime = t.nullTime("ingress_time"), t.nullTime("egress_time")
	s.utilization, s.buffer, s.buffered = t.null4("tx_utilization"), t.null1("buffer"), t.null4("buffer_occupancy")
	a.add("sink", t)
}

func (x *contentColumns) define(a *named) {
	x.metadata, x.data = a.text("ds_metadata"), a.text("data")
	tlv := new(named)
	x.kind, x.template, x.tlvData = tlv.text("type"), tlv.null2("template"), tlv.text("data")
	x.tlvs = a.list("tlvs", tlv)
}

func (s *streamColumns) define(a *named) {
	s.first, s.last, s.count = a.null8("first"), a.null8("last"), a.null8("count")
	t := new(named)
	s.received, s.lost, s.late, s.undecodable = t.null8("received"), t.null8("lost"), t.null8("late"), t.null8("undecodable")
	a.add("stats", t)
}

// Len returns the number of records.
func (c *Columns) Len() int { return c.rows }

// Size returns how many bytes of memory the columns had when they were sealed, used or not.
func (c *Columns) Size() int { return c.bytes }

// Reset removes all records.
func (c *Columns) Reset() {
	c.rows = 0
	c.all.reset()
}

// Seal sets what no record has set in columns that some have set. It is called after the last Append, and before
// AppendNative.
func (c *Columns) Seal() {
	c.all.pad(c.rows)
	c.bytes = c.all.size()
}

// Rows are records From to To-1 of columns that are sealed.
type Rows struct {
	Of       *Columns
	From, To int
}

// AppendNative appends records of columns, one behind the other, as one block of format Native, without an extension of
// later protocols. It has the columns that records have set: in the others, the server sets the default of the table.
func AppendNative(dst []byte, all ...Rows) []byte {
	b, rows, pieces := proto.Buffer{Buf: dst}, 0, make([]piece, len(all))
	for _, r := range all {
		rows += r.To - r.From
	}
	var columns []int // their indices
	for k := range all[0].Of.all {
		if slices.ContainsFunc(all, func(r Rows) bool { return !r.Of.all[k].empty() }) {
			columns = append(columns, k)
		}
	}
	b.PutInt(len(columns))
	b.PutInt(rows)
	for _, k := range columns {
		d := all[0].Of.all[k]
		b.PutString(d.name)
		b.PutString(d.kind())
		for n, r := range all {
			pieces[n] = piece{r.Of.all[k].column, r.From, r.To}
		}
		d.write(&b, pieces)
	}
	return b.Buf
}

// Append appends a record.
func (c *Columns) Append(r *Record) {
	n, h := c.rows, &c.head
	c.rows++
	h.v.put(n, SchemaVersion)
	h.kind.put(n, r.Type.String())
	at := h.id.open(n)
	h.id.buf = r.appendID(h.id.buf)
	h.id.close(at)
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
	if a.IsValid() {
		c.put(row, a.As16())
	}
}

// append sets what only reports have.
func (h *headColumns) append(n int, r *Record) {
	h.sequence.put(n, r.Sequence)
	h.index.put(n, r.Index)
	if r.Known&KnownInstance != 0 {
		at := h.instance.open(n)
		h.instance.buf = appendHex64(h.instance.buf, r.Instance)
		h.instance.close(at)
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
	c.begin(row)
	for bit, name := range names {
		if set>>bit&1 != 0 {
			of.put(c.next(), name)
		}
	}
	c.end()
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
	at := e.flow.open(n)
	e.flow.buf = h.AppendFlow(e.flow.buf)
	e.flow.close(at)
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
		p.vlans.begin(n)
		for _, id := range r.VLANs {
			p.vlan.put(p.vlans.next(), id)
		}
		p.vlans.end()
	}
	p.tcpFlags.putKnown(n, r.Known&KnownTCPFlags != 0, r.TCPFlags)
	if r.Known&KnownMACs != 0 {
		at := p.sourceMAC.open(n)
		p.sourceMAC.buf = appendMAC(p.sourceMAC.buf, &r.SourceMAC)
		p.sourceMAC.close(at)
		at = p.destinationMAC.open(n)
		p.destinationMAC.buf = appendMAC(p.destinationMAC.buf, &r.DestinationMAC)
		p.destinationMAC.close(at)
	}
	p.deviceID.putHex(n, r.DeviceID)
	p.vni.putKnown(n, r.Known&KnownVNI != 0, r.VNI)
}

func (w *wayColumns) append(n int, r *Record) {
	if r.Known&KnownPath != 0 {
		at := w.path.open(n)
		w.path.buf = appendHex64(w.path.buf, r.Path)
		w.path.close(at)
	}
	w.hopCount.putKnown(n, r.Known&KnownHopCount != 0, r.HopCount)
	w.hops.begin(n)
	for i := range r.Hops {
		w.hop.append(w.hops.next(), &r.Hops[i])
	}
	w.hops.end()
	w.latency.putKnown(n, r.Known&KnownLatency != 0, r.LatencyNs)
	if len(r.Links) > 0 {
		w.links.begin(n)
		for _, l := range r.Links {
			row := w.links.next()
			w.from.put(row, l.From)
			w.to.put(row, l.To)
			w.between.put(row, l.LatencyNs)
		}
		w.links.end()
	}
	w.maxHop.putKnown(n, r.Known&KnownMaxHop != 0, r.MaxHop)
	w.metadata.putHex(n, r.SourceMetadata)
	putEach(w.flags, w.flag, n, uint32(r.Flags), flagNames[:])
	if r.INTProblem != inthdr.ReasonNone {
		w.problem.put(n, r.INTProblem.String())
	}
}

func (h *hopColumns) append(n int, m *Hop) {
	k := m.Known
	h.nodeID.putKnown(n, k&HopNode != 0, m.NodeID)
	h.ingress.putKnown(n, k&HopIngress != 0, m.Ingress)
	h.egress.putKnown(n, k&HopEgress != 0, m.Egress)
	h.ingress2.putKnown(n, k&HopIngress2 != 0, m.Ingress2)
	h.egress2.putKnown(n, k&HopEgress2 != 0, m.Egress2)
	h.latency.putKnown(n, k&HopLatency != 0, m.LatencyNs)
	h.queue.putKnown(n, k&HopQueue != 0, m.Queue)
	h.occupancy.putKnown(n, k&HopOccupancy != 0, m.Occupancy)
	h.ingressTime.putKnown(n, k&HopIngressTime != 0, int64(m.IngressTime))
	h.egressTime.putKnown(n, k&HopEgressTime != 0, int64(m.EgressTime))
	h.utilization.putKnown(n, k&HopTxUtilization != 0, m.TxUtilization)
	h.buffer.putKnown(n, k&HopBuffer != 0, m.Buffer)
	h.buffered.putKnown(n, k&HopBufferOccupancy != 0, m.BufferOccupancy)
	h.congestion.putKnown(n, k&HopCongestion != 0, m.Congestion)
	h.metadata.putHex(n, m.DSMetadata)
}

func (s *sinkColumns) append(n int, m *Sink) {
	k := m.Known
	s.ingress.putKnown(n, k&HopIngress != 0, uint16(m.Ingress))
	s.egress.putKnown(n, k&HopEgress != 0, uint16(m.Egress))
	s.latency.putKnown(n, k&HopLatency != 0, m.LatencyNs)
	s.queue.putKnown(n, k&HopQueue != 0, m.Queue)
	s.occupancy.putKnown(n, k&HopOccupancy != 0, m.Occupancy)
	s.ingress2.putKnown(n, k&HopIngress2 != 0, m.Ingress2)
	s.egress2.putKnown(n, k&HopEgress2 != 0, m.Egress2)
	s.ingressTime.putKnown(n, k&HopIngressTime != 0, int64(m.IngressTime))
	s.egressTime.putKnown(n, k&HopEgressTime != 0, int64(m.EgressTime))
	s.utilization.putKnown(n, k&HopTxUtilization != 0, m.TxUtilization)
	s.buffer.putKnown(n, k&HopBuffer != 0, m.Buffer)
	s.buffered.putKnown(n, k&HopBufferOccupancy != 0, m.BufferOccupancy)
}

func (x *contentColumns) append(n int, r *Record) {
	x.metadata.putHex(n, r.DSMetadata)
	x.data.putHex(n, r.Data)
	if len(r.TLVs) == 0 {
		return
	}
	x.tlvs.begin(n)
	for i := range r.TLVs {
		t, row := &r.TLVs[i], x.tlvs.next()
		x.kind.put(row, tlvNames[t.Type&0xf])
		x.template.putKnown(row, t.Type == report.TLVDSExtension, t.Template)
		x.tlvData.putHex(row, t.Data)
	}
	x.tlvs.end()
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
