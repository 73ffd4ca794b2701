// Decoder: makes records of a report packet: headers and own values of each report, TLVs,
// explanation.

package record

import (
	"errors"
	"net/netip"
	"slices"

	"intsink/engine/event"
	"intsink/engine/wire/ifa"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
)

// Options say how INT is found in the reported packets, and what the nodes' values mean.
type Options struct {
	// INT says how INT is recognised. The first entry that finds sound INT counts; nil:
	// DefaultINT. INT 1.0 whose hops are as long by the layout of GEANT's programs, and not by its
	// document, is read by that layout.
	INT []inthdr.Config
	// Models has the units and clocks of nodes.
	Models []event.NodeModel
	// Reporters are the same for what nodes report of themselves: of devices alone, since sinks report nanoseconds. A
	// model that lists no nodes holds for none.
	Reporters []event.NodeModel
	// Layout2018 reads RepMdBits of 1.0 as the proposal of January 2018 has them: nothing on the wire tells which
	// one a node writes.
	Layout2018 bool
}

// Origin says where a report packet comes from, and where it stands in its stream.
type Origin struct {
	Exporter netip.Addr // source address
	Received int64      // Unix nanoseconds
	Start    int64      // when the stream began, Unix nanoseconds
	Sequence uint64     // sequence number of the packet, extended beyond its width on the wire
}

// ErrLengths says that lengths or types in a report packet contradict each other or go
// beyond its end.
var ErrLengths = errors.New("lengths or types that do not agree")

// Decoder makes records of report packets. It allocates only until its buffers fit the
// longest packet. It belongs to one goroutine.
type Decoder struct {
	locators    []entry           // of the configuration, in its order
	corrected   []entry           // the same for packets whose Length of the shim was corrected
	noINT       []entry           // finds none: for packets whose IFA stands elsewhere
	ifas        []*ifa.Config     // of the configuration; at least one
	terminators []*inthdr.Locator // the same
	locator     *inthdr.Locator   // found the INT of the packet at hand; nil: that INT is unsound
	models      event.Models
	reporters   event.Models
	plain       *event.NodeModel // of nodes that no model lists
	reports     decode.Reports
	raw         decode.Report // the report at hand
	record      Record

	frame       []byte // the reported packet at hand, followed by zeros
	loaded      int    // bytes of it
	found       bool   // it has INT, sound or not: info
	layers      packet.Layers
	info        inthdr.Info
	outers      inthdr.Outers
	private     []byte // what nodes say to those alone who know their namespace
	privateEnds []int  // where that of each ends
	ports       packet.TunnelPorts
}

// entry finds INT as one entry of the configuration says.
type entry struct {
	whole *inthdr.Locator
	cut   *inthdr.Locator // in frames without what NPT 2 restores
	ports packet.TunnelPorts
	geant *inthdr.Locator // INT 1.0 by the layout of GEANT's programs, if whole reads it by the document; else nil
}

func newEntry(c inthdr.Config) entry {
	e := entry{whole: inthdr.NewLocator(c), ports: c.TunnelPorts()}
	if c.Version1 && !c.GEANT {
		c.GEANT = true
		e.geant = inthdr.NewLocator(c)
	}
	c.Cut = true
	e.cut = inthdr.NewLocator(c)
	return e
}

// NewDecoder makes a Decoder.
func NewDecoder(o Options) *Decoder {
	if o.INT == nil {
		o.INT = DefaultINT()
	}
	d := &Decoder{models: event.NewModels(o.Models), reporters: event.NewModels(o.Reporters), frame: make([]byte, packet.MaxFrame)}
	d.reports.Layout2018 = o.Layout2018
	none := event.NewModels(nil)
	d.plain = none.Of(0)
	for _, c := range o.INT {
		c.ReadOnly = true
		if !slices.ContainsFunc(c.Domains, func(d inthdr.Domain) bool { return d.ID == report.TransparentSecurityID }) {
			c.Domains = append(slices.Clone(c.Domains), transparentSecurityDomain())
		}
		d.locators = append(d.locators, newEntry(c))
		if c.IFA != nil && !slices.Contains(d.ifas, c.IFA) {
			d.takeApart(c.IFA)
		}
		c.ShimInclusive = false
		d.corrected = append(d.corrected, newEntry(c))
	}
	if len(d.ifas) == 0 {
		d.takeApart(DefaultINT()[0].IFA)
	}
	d.noINT = []entry{newEntry(inthdr.Config{})}
	d.noINT[0].ports = d.locators[0].ports
	return d
}

// takeApart has Message read hops as c says.
func (d *Decoder) takeApart(c *ifa.Config) {
	d.ifas = append(d.ifas, c)
	d.terminators = append(d.terminators, inthdr.NewLocator(inthdr.Config{Formats: inthdr.Formats{IFA: c}}))
}

// Records calls yield with a record for each report in the payload of one UDP datagram, and
// returns how many there were. The Decoder uses the record again: it may be read until yield
// returns. The error is decode.ErrNotReport, decode.ErrTruncated or ErrLengths, not wrapped;
// the values that could be read have then been yielded, with the flag Malformed.
func (d *Decoder) Records(packet []byte, o *Origin, yield func(*Record)) (n int, err error) {
	if err := d.reports.Open(packet); err != nil {
		return 0, err
	}
	for d.reports.Next(&d.raw) {
		d.begin(o, n)
		d.individual()
		if d.record.Problem != decode.NoProblem {
			d.record.Flags |= Malformed
			err = ErrLengths
		}
		d.finish()
		yield(&d.record)
		d.wipe()
		n++
	}
	if d.reports.Err != nil {
		err = d.reports.Err
	}
	return n, err
}

// Raw returns the headers of the report that was yielded, as they stand on the wire. They may be read until yield
// returns.
func (d *Decoder) Raw() (*decode.Header, *decode.Report) { return &d.reports.Header, &d.raw }

// INT returns the INT of the packet that was yielded, and the bytes of its frame as far as the report shows them; nil:
// there is none. They may be read until yield returns.
func (d *Decoder) INT() (*inthdr.Info, []byte) {
	if !d.found {
		return nil, nil
	}
	return &d.info, d.frame[:d.loaded]
}

// Find returns the sound INT in a packet, which may be cut anywhere; nil: there is none. It may be read until the
// Decoder is used again.
func (d *Decoder) Find(t report.InType, b []byte) *inthdr.Info {
	d.record.Reset(Report)
	d.found = false
	d.packet(t, b)
	d.wipe()
	if !d.found || d.locator == nil {
		return nil
	}
	return &d.info
}

// wipe makes zeros of the frame, as far as it was loaded.
func (d *Decoder) wipe() {
	clear(d.frame[:d.loaded])
	d.loaded = 0
}

// Plausible is decode.Plausible.
func (*Decoder) Plausible(packet []byte) (bare, ok bool) { return decode.Plausible(packet) }

// begin resets the record and fills in the fields of the report packet's header and origin.
func (d *Decoder) begin(o *Origin, index int) {
	r, h := &d.record, &d.reports.Header
	r.Reset(Report)
	d.found = false
	r.Exporter, r.Received, r.Time, r.Start, r.Sequence = o.Exporter, o.Received, o.Received, o.Start, o.Sequence
	r.Version, r.NodeID, r.HwID, r.Index = h.Version, h.NodeID, h.HwID, uint16(index)
	if h.HasNode {
		r.Known |= KnownNode
	}
	if h.Identified {
		r.Known |= KnownInstance
		r.Instance = h.Identity.Instance
	}
}

// individual makes the record of d.raw.
func (d *Decoder) individual() {
	r, raw := &d.record, &d.raw
	r.Dropped, r.Congested, r.Tracked, r.Intermediate = raw.Dropped, raw.Congested, raw.Tracked, raw.Intermediate
	r.RepType, r.InType, r.Problem = raw.RepType, raw.InType, raw.Problem
	r.Domain, r.DSMdBits, r.DSMdStatus, r.DSMetadata = raw.DomainID, raw.DSMdBits, raw.DSMdStatus, raw.DSMetadata
	if r.Version == Version20 {
		r.Known |= KnownRepType | KnownInType
	} else if decode.IsPacket(raw.InType) {
		r.Known |= KnownInType
	}
	if raw.HasMain {
		r.Known |= KnownMain
	}
	switch raw.TransparentSecurity {
	case decode.TransparentSecurityPacket:
		d.transparentSecurity()
		return
	case decode.TransparentSecurityDrop:
		seconds, count, _ := raw.Drop()
		d.setTime(int64(seconds) * second)
		r.Events, r.Drops, r.Data = dropEvent, count, raw.Inner
		r.Known |= KnownEvents | KnownDrops
		return
	}
	d.own()
	switch {
	case raw.Packet():
		if !d.packet(raw.InType, raw.Inner) {
			d.problem(decode.ProblemInType)
		}
	case raw.Defined() && raw.InType == report.TLV:
		d.tlvs()
	default:
		r.Data = raw.Inner
	}
}

// problem notes what is wrong with the report, unless something was before.
func (d *Decoder) problem(p decode.Problem) {
	if d.record.Problem == decode.NoProblem {
		d.record.Problem = p
	}
}

// own takes over the reporting node's own values.
func (d *Decoder) own() {
	r, own := &d.record, &d.raw.Own
	if r.Version == Version20 && own.EgressTime != inthdr.UnknownTime {
		d.setTime(int64(own.EgressTime))
	}
	model := d.plain
	if r.Has(KnownNode) {
		if m := d.reporters.Listed(r.NodeID); m != nil {
			model = m
		}
	}
	r.Sink.fill(&own.Hop, &own.Rest, model)
	width := uint8(64)
	if r.Version != Version20 {
		width = 32
	}
	r.Sink.absolute(model, width, r.Time)
	if own.DropReason == inthdr.Unknown {
		return
	}
	r.DropReason = uint8(own.DropReason)
	r.Known |= KnownDropReason
	if r.Sink.Known&HopQueue == 0 {
		r.Sink.Queue = uint8(own.DropQueue)
		r.Sink.Known |= HopQueue
	}
}

// tlvs reads the TLVs: the explanation, episodes, the first one that holds a packet, and all others as they are.
func (d *Decoder) tlvs() {
	found := false
	var v decode.TLV
	all := d.raw.TLVs()
	for all.Next(&v) {
		in, known := v.InType()
		switch {
		case known && in == report.DSExtension && v.Template == report.ExplainTemplate && !d.record.Has(KnownExplanation) && d.explanation(v.Data):
		case known && in == report.DSExtension && v.Template == report.EpisodeTemplate && d.episode(v.Data):
		case known && decode.IsPacket(in) && !found:
			found = true
			d.packet(in, v.Data)
		default:
			d.record.TLVs = append(d.record.TLVs, v)
		}
	}
	if all.Problem != decode.NoProblem {
		d.problem(all.Problem)
	}
}

// explanation reads the explanation; false where the data is none.
func (d *Decoder) explanation(data []byte) bool {
	var e report.Explanation
	if !e.Get(data) {
		return false
	}
	r := &d.record
	r.Events, r.Suppressed, r.Lost, r.Drops = e.Events, e.Suppressed, e.Lost, e.Drops
	r.FlowPackets, r.FlowBytes = e.Packets, e.Bytes
	r.EventNode, r.Reference, r.EventValue = e.Trigger.NodeID, e.Trigger.Reference, e.Trigger.Value
	r.Known |= KnownEvents | KnownExplanation
	for known, v := range [...]uint32{r.EventNode, r.Reference, r.EventValue} {
		if v != report.NoTrigger.Value {
			r.Known |= KnownEventNode << known
		}
	}
	return true
}

// mostEpisodes is how many episodes a report tells at most: sinks send two, and a forged one may have hundreds.
const mostEpisodes = 4

// episode reads an episode; false where the data is none.
func (d *Decoder) episode(data []byte) bool {
	r := &d.record
	n := len(r.Episodes)
	if n == mostEpisodes {
		return false
	}
	r.Episodes = append(r.Episodes, Episode{Sinks: 1})
	if !r.Episodes[n].Get(data) {
		r.Episodes = r.Episodes[:n]
		return false
	}
	return true
}

// maxClockOffset is how far a sink's clock may be from the collector's in nanoseconds. Beyond
// it the record's time is when it was received: stores sort by that time and expire by it.
const maxClockOffset = int64(24 * 3600 * second)

// EpisodeTime returns when e, which r tells of, ended; 0: that is too far from when r was received.
func (r *Record) EpisodeTime(e *Episode) int64 {
	if offset := e.End - r.Received; -maxClockOffset < offset && offset < maxClockOffset {
		return e.End
	}
	return 0
}

// transparentSecurity reads the packet in a report as the code of Transparent Security writes them, which differs from
// the specification.
func (d *Decoder) transparentSecurity() {
	n := d.load(report.Ethernet, d.raw.Inner)
	decode.CorrectTransparentSecurity(d.frame[:n])
	configured := d.locators
	d.locators = d.corrected
	d.headers(report.Ethernet, n)
	d.locators = configured
}

// setTime makes t the record's time, unless it is too far from when the report was received.
func (d *Decoder) setTime(t int64) {
	if offset := t - d.record.Received; t > 0 && -maxClockOffset < offset && offset < maxClockOffset {
		d.record.Time = t
	}
}

// finish sets the events that the D and Q bits stand for, if the report names none.
func (d *Decoder) finish() {
	r := &d.record
	if r.Known&KnownEvents == 0 && (r.Dropped || r.Congested) {
		r.Known |= KnownEvents
		if r.Dropped {
			r.Events |= dropEvent
		}
		if r.Congested {
			r.Events |= congestionEvent
		}
	}
}
