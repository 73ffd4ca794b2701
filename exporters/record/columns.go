// Columns: records as columns of ClickHouse's Native format, those of deploy/collect/clickhouse.sql. Declares
// and orders them, and writes them as blocks.

package record

import (
	"slices"

	"github.com/ClickHouse/ch-go/proto"
)

// Columns holds records as columns. It is made to be used again: Reset keeps its memory.
type Columns struct {
	rows  int
	bytes int     // of memory, when they were sealed
	data  []data  // of the columns that are not made of others
	to    *filler // takes records; nil: there are none, or all are in data
}

// filler has the columns, and the records that are put into some Columns as long as it is begun for these.
type filler struct {
	all named

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
	intType                       *texts
	hopCount                      *numbers2
	hops, links, flags            *list
	hop                           hopColumns
	from, to, maxHop              *numbers4
	between, latency              *numbers8
}

// valueColumns are the metadata that hops and the reporting node have in the same types.
type valueColumns struct {
	ingress2, egress2, latency, occupancy, utilization, buffered *numbers4
	queue, buffer                                                *bytes8
	ingressTime, egressTime                                      *times
}

// hopColumns are the metadata of one node.
type hopColumns struct {
	valueColumns
	nodeID, ingress, egress, congestion *numbers4
	metadata                            *texts
}

// sinkColumns are the metadata of the reporting node.
type sinkColumns struct {
	valueColumns
	ingress, egress *numbers2
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

// newFiller returns the columns. Their order is that of Fields.
func newFiller() *filler {
	c := new(filler)
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
	a.place(0)
	return c
}

// fillers are those that nobody uses. A goroutine needs one at a time, however many Columns there are.
var fillers = make(chan *filler, 16)

func takeFiller() *filler {
	select {
	case f := <-fillers:
		return f
	default:
		return newFiller()
	}
}

func putFiller(f *filler) {
	f.all.begin(nothing) // it keeps no memory of those that it was begun for
	select {
	case fillers <- f:
	default:
	}
}

// layout is what all fillers have in common, and how many data that takes.
var layout, places = func() (named, int) {
	all := newFiller().all
	return all, all.place(0)
}()

var nothing = NewColumns()

func (h *headColumns) define(a *named) {
	h.v, h.kind, h.id = a.n1("v"), a.text("type"), a.text("id")
	h.time, h.received, h.exporter = a.time("time"), a.time("received"), a.nullAddr("exporter")
	h.nodeID, h.hwID, h.version = a.n4("node_id"), a.n1("hw_id"), a.nullFloat("version")
	h.nodeID.missing = 0xff
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
	w.intType, w.problem = a.text("int_type"), a.text("int_problem")
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

// NewColumns returns columns without rows.
func NewColumns() *Columns { return &Columns{data: make([]data, places)} }

// Append appends a record.
func (c *Columns) Append(r *Record) {
	if c.to == nil {
		c.to = takeFiller()
		c.to.all.begin(c)
	}
	c.to.put(c.rows, r)
	if c.rows++; c.rows%chunk == 0 {
		c.to.all.store(c.rows, false)
	}
}

// Len returns the number of records.
func (c *Columns) Len() int { return c.rows }

// Size returns how many bytes of memory the columns had when they were sealed, used or not.
func (c *Columns) Size() int { return c.bytes }

// Reset removes all records.
func (c *Columns) Reset() {
	c.rows, c.to = 0, nil
	for i := range c.data {
		d := &c.data[i]
		d.rows, d.values.Buf, d.nulls = 0, d.values.Buf[:0], d.nulls[:0]
	}
}

// Seal is called after the last Append, and before AppendNative.
func (c *Columns) Seal() {
	if c.to != nil {
		c.to.all.store(c.rows, true)
		putFiller(c.to)
		c.to = nil
	}
	c.bytes = 0
	for i := range c.data {
		c.bytes += cap(c.data[i].values.Buf) + cap(c.data[i].nulls)
	}
}

// Rows are records From to To-1 of columns that are sealed.
type Rows struct {
	Of       *Columns
	From, To int
}

// AppendNative appends records of columns, one behind the other, as one block of format Native, without an extension of
// later protocols. It has the columns that records have set: in the others, the server sets the default of the table.
func AppendNative(dst []byte, all ...Rows) []byte {
	b := nativeBlock{Buffer: proto.Buffer{Buf: dst}}
	b.write(all)
	return b.Buf
}

// WriteNative writes the block that AppendNative returns, and calls put with each piece of it. A piece is valid until put
// returns: its memory is used for the next one, so that put reads it from the processor's cache, and the block takes no memory
// as a whole. WriteNative works in memory, which may be nil, and returns it for the next call.
func WriteNative(memory []byte, put func(piece []byte), all ...Rows) []byte {
	b := nativeBlock{proto.Buffer{Buf: memory[:0]}, put}
	b.write(all)
	put(b.Buf)
	return b.Buf
}

// nativeBlock is a block that is being written.
type nativeBlock struct {
	proto.Buffer
	put func(piece []byte) // nil: all of it stays in the buffer
}

// pieceBytes is from how many bytes on a piece is put: a half of what the smallest second level cache of a server holds.
const pieceBytes = 128 << 10

// spill puts a piece if there are enough bytes.
func (b *nativeBlock) spill() {
	if b.put != nil && len(b.Buf) >= pieceBytes {
		b.put(b.Buf)
		b.Buf = b.Buf[:0]
	}
}

func (b *nativeBlock) write(all []Rows) {
	rows := 0
	for _, r := range all {
		rows += r.To - r.From
	}
	var columns named
	for _, d := range layout {
		if slices.ContainsFunc(all, func(r Rows) bool { return !d.empty(r.Of) }) {
			columns = append(columns, d)
		}
	}
	b.PutInt(len(columns))
	b.PutInt(rows)
	for _, d := range columns {
		b.PutString(d.name)
		b.PutString(d.kind())
		d.write(b, all)
	}
}
