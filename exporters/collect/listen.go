// One listen address: admits datagrams, finds their place in streams, has them decoded and
// pushed to the outputs; keeps the streams' state over restarts.

package collect

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"intsink/exporters/collect/spool"
	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

// listen is one address with its sockets and streams. The collector's lock guards all fields
// except allow.
type listen struct {
	Listen
	sockets     []*socket // none: the address cannot be opened
	why         error     // why not
	local       netip.AddrPort
	allow       atomic.Pointer[[]netip.Prefix]
	streams     *streams.Table
	terminators *terminators // nil: what comes are report packets
	exporters   *exporters
	datagrams   uint64
	inHand      uint64 // datagrams that are counted neither as accepted nor as refused yet
	refused     [NumRefusals]uint64
	overflows   uint64
	packets     uint64 // datagrams that were accepted
	elsewhere   uint64 // report packets that are missing here, and came to another collector
	twins       uint64 // times that two sinks were found to share address, node and hw_id
}

// exporterShare is the part of the streams that one exporter address may have: a sink has one for each worker
// and node, noise and forged node ids make as many as they may.
const exporterShare = 8

func newListen(l Listen) *listen {
	n := &listen{Listen: l, local: configured(l.Address), streams: streams.New(l.Streams, max(l.Streams/exporterShare, 1)), exporters: newExporters(l.Limit, l.Streams), terminators: newTerminators(l.IPFIX)}
	n.allow.Store(&l.Allow)
	return n
}

// drain makes the sockets return net.ErrClosed when they are empty, or after a time.
func (l *listen) drain(most time.Duration) {
	for _, s := range l.sockets {
		s.until.Store(time.Now().Add(most).UnixNano())
		s.conn.SetReadDeadline(time.Unix(0, 1)) // ends the call that waits
	}
}

// drainTime is how long sockets are read at the end, while report packets come.
const drainTime = time.Second

// since returns how much the counts of s have grown since the last call.
func since(s *streams.Stream) record.StreamStats {
	was, is := s.Told, s.Counts
	s.Told = is
	return record.StreamStats{
		Received:    is.Received - was.Received,
		Lost:        is.Lost - was.Lost,
		Late:        is.Late + is.Repeated - was.Late - was.Repeated,
		Undecodable: is.Undecodable - was.Undecodable,
	}
}

// incoming is a datagram that admit let in, with its place in its stream.
type incoming struct {
	*datagram
	kind   spool.Kind
	stream *streams.Stream
	place  streams.Place
}

// receive takes the datagrams of one socket until it is closed.
func (c *Collector) receive(l *listen, s *socket) {
	defer c.sockets.Done()
	m := newMaker(c.o.Decoder(), nil)
	each := func(*record.Record) {}
	if c.o.Observe != nil {
		each = c.o.Observe()
	}
	m.observe = func(r *record.Record) {
		each(r)
		if len(r.Episodes) > 0 {
			c.heard(l, r)
		}
	}
	var taken []incoming
	var gaps []streams.Gap
	for {
		datagrams, err := s.receive()
		if errors.Is(err, net.ErrClosed) {
			s.Close()
			return
		}
		if err != nil {
			c.log.Say("nothing received", "listen", l.Address, "err", err)
			time.Sleep(tick)
			continue
		}
		taken, gaps = c.admit(l, s, m, datagrams, taken[:0], gaps[:0])
		c.deliver(l, m, taken, gaps)
	}
}

// admit counts datagrams, and the refused ones among them by reason. It appends the others,
// with their places in streams, to taken, and ranges that now count as lost to gaps.
func (c *Collector) admit(l *listen, s *socket, m *maker, datagrams []datagram, taken []incoming, gaps []streams.Gap) ([]incoming, []streams.Gap) {
	allow := *l.allow.Load()
	now := int64(time.Since(c.began))
	gap := func(g streams.Gap) {
		if !c.missed(l, g) {
			gaps = append(gaps, g)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l.datagrams += uint64(len(datagrams))
	l.overflows += s.lost
	s.lost = 0
	for i := range datagrams {
		d := &datagrams[i]
		if !allows(allow, d.from.Addr()) {
			l.refused[NotAllowed]++
			continue
		}
		if l.terminators != nil {
			taken = c.admitMessage(l, s, d, now, taken, gap)
			continue
		}
		h, ok := streams.ReadHeader(d.payload)
		if !l.exporters.take(d.from.Addr(), now, packets(h.Reports)) {
			l.refused[OverLimit]++
			continue
		}
		if !ok || h.Reports > mostReports {
			l.refused[NotReport]++
			continue
		}
		times := streams.Times{Arrived: d.arrived, Monotonic: now}
		st, why := l.streamOf(streams.KeyOf(d.from.Addr(), s.local, &h), h, times, m, d)
		if st == nil {
			l.refused[why]++
			if why == TooManyStreams {
				c.log.Say(noRoom, "listen", l.Name, "exporter", d.from.Addr(), "node_id", h.Node)
			}
			continue
		}
		began := st.Received == 0
		taken = append(taken, incoming{d, spool.Report, st, st.See(h, times, gap)})
		if began {
			c.beganHere(l, st.Key, st.Start(), taken[len(taken)-1].place.Sequence, d.arrived)
		}
		c.tellTwins(l, st)
	}
	if l.terminators == nil {
		l.inHand += uint64(len(taken))
	}
	return taken, gaps
}

const noRoom = "reports are refused: there is no room for one more stream; see intcollect_streams, allow and streams"

// tellTwins warns where two sinks were found to share a stream.
func (c *Collector) tellTwins(l *listen, st *streams.Stream) {
	if !st.TwinsFound() {
		return
	}
	l.twins++
	c.log.out.Warn("two sinks share an address, node id and hw_id: losses of either may not be seen; give each sink its own node { id }, each exporter of IPFIX its own observation domain",
		"listen", l.Name, "exporter", st.Exporter, "node_id", st.Node, "hw_id", st.HwID)
}

// packets returns as how many a packet with so many reports counts for the limit of its exporter: no packet of
// ordinary size has more than reportsEach for each 1500 bytes, but one may have mostReports, nearly empty.
func packets(reports int) float64 { return max(1, float64(reports)/reportsEach) }

const reportsEach = 16

// mostReports is how many reports a packet may have: 32 bytes each fill the largest datagram, and no report that says of what
// packet it is has fewer. Empty ones become records a hundred times their size.
const mostReports = 2048

// streamOf returns the stream of a packet. A new one begins only with a packet whose first report can be decoded:
// an eighth of all noise has a header of 1.0 or 0.5.
func (l *listen) streamOf(k streams.Key, h streams.Header, now streams.Times, m *maker, d *datagram) (*streams.Stream, Refusal) {
	if st := l.streams.Get(k); st != nil {
		return st, 0
	}
	if !m.sound(d.payload) {
		return nil, Undecodable
	}
	if st := l.streams.Add(k, h, now); st != nil {
		return st, 0
	}
	return nil, TooManyStreams
}

// deliver makes records of the accepted datagrams and gaps, and pushes them to the outputs.
func (c *Collector) deliver(l *listen, m *maker, taken []incoming, gaps []streams.Gap) {
	c.mu.Lock()
	formats := c.formats()
	c.mu.Unlock()
	payload := 0
	for _, in := range taken {
		payload += len(in.payload)
	}
	b := m.newBatch(min(payload, batchRaw+maxDatagram))
	for _, g := range gaps {
		b = c.pushFull(m, b, payload)
		m.note(b, g.Key, g.Start, time.Now().UnixNano(), gapNote(g), formats)
	}
	bad := taken[:0]
	for _, in := range taken {
		b = c.pushFull(m, b, payload)
		payload -= len(in.payload)
		e := spool.Entry{
			Kind: in.kind, Received: in.arrived, From: in.from, To: in.stream.Collector,
			Start: in.place.Start, Sequence: in.place.Sequence, Skipped: uint32(min(in.place.Skipped, math.MaxUint32)), Payload: in.payload,
		}
		if m.packet(b, e, formats) == 0 {
			bad = append(bad, in)
			continue
		}
		if in.kind == spool.Report {
			in.stream.Behind.Set(m.behind)
		}
	}
	m.seal(b)
	defer b.release()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, in := range bad {
		in.stream.Undecodable++
	}
	if l.terminators == nil {
		l.inHand -= uint64(len(taken))
		l.refused[Undecodable] += uint64(len(bad))
		l.packets += uint64(len(taken) - len(bad))
	}
	c.push(b)
}

// pushFull pushes b if it is full, and returns an empty batch in its place, with room for as many of the
// left bytes of report packets as it may get. Otherwise it returns b.
func (c *Collector) pushFull(m *maker, b *Batch, left int) *Batch {
	if !b.full() {
		return b
	}
	m.seal(b)
	c.mu.Lock()
	c.push(b)
	c.mu.Unlock()
	b.release()
	return m.newBatch(min(left, batchRaw+maxDatagram))
}

// stateFile is the shape of the file that keeps the streams' numbers.
type stateFile struct {
	Version int             `json:"version"`
	Exact   bool            `json:"exact"` // no packet came after the states were taken
	Streams []streams.State `json:"streams"`

	Templates []listenTemplates `json:"templates,omitempty"` // of terminators
}

// keepState writes the streams' states to Options.State.
func (c *Collector) keepState(exact bool) error {
	if c.o.State == "" || c.o.Spool.Detached() { // another process may have the folder
		return nil
	}
	f := stateFile{Version: 1, Exact: exact}
	c.mu.Lock()
	for _, l := range c.listens {
		f.Streams = append(f.Streams, l.streams.States()...)
		if x := l.terminators; x != nil {
			f.Templates = append(f.Templates, listenTemplates{l.local, x.templates.Kept(c.times())})
		}
	}
	c.mu.Unlock()
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return c.o.Spool.WriteFile(c.o.State, b)
}

// resume goes on with the numbers that the log of an earlier process has, and those that it wrote: the file
// knows the streams whose packets are no longer in the log, and when packets of the others came, ten seconds ago at most. Others are asked
// about what is missing since then.
func (c *Collector) resume() (missing []streams.Gap) {
	states, missing, exact := c.o.Spool.States()
	f, err := c.readState()
	if err != nil {
		c.log.out.Warn("the streams begin anew, but for the numbers that the spool has: those of the file could not be read", "file", c.o.State, "err", err)
	}
	by := map[streams.Key]streams.State{}
	for _, st := range append(f.Streams, states...) {
		for _, l := range c.listens {
			local := l.local
			same := st.Collector == local || st.Collector.Port() == local.Port() && st.Collector.Addr().IsUnspecified() && local.Addr().IsUnspecified()
			if !same {
				continue
			}
			st.Collector = local
			k := streams.Key{Exporter: st.Exporter, Collector: local, Node: st.Node, HwID: st.HwID, Version: st.Version, Instance: st.Instance, Began: st.Began}
			if st.Instance != 0 { // under whatever address
				k.Exporter = netip.Addr{}
			}
			if old, ok := by[k]; !ok || st.Replaces(&old) {
				st.Pace = max(st.Pace, old.Pace)
				if st.Seen = max(st.Seen, old.Seen); st.Seen == 0 && st.Instance == 0 { // it began after the file was written
					st.Seen = st.Start
				}
				by[k] = st
			}
		}
	}
	now := streams.Times{Arrived: time.Now().UnixNano()}
	for _, l := range c.listens {
		var mine []streams.State
		for k, st := range by {
			if k.Collector == l.local {
				mine = append(mine, st)
			}
		}
		l.streams.Resume(mine, f.Exact || exact, now)
		for _, k := range f.Templates {
			if l.terminators != nil && k.Collector == l.local {
				now, wall := c.times()
				l.terminators.templates.Keep(k.Kept, now, wall)
			}
		}
	}
	if f.Exact { // no more, or what this process receives until it is killed would count as lost
		if err := c.keepState(false); err != nil {
			c.log.Say("the streams' numbers are not kept", "err", err)
		}
	}
	return missing
}

// readState reads the file of an earlier process; none is none.
func (c *Collector) readState() (f stateFile, err error) {
	if c.o.Spool.Detached() {
		return f, nil
	}
	b, err := c.o.Spool.ReadFile(c.o.State)
	if c.o.State == "" || errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err == nil && f.Version != 1 {
		err = errors.New("it is of another version")
	}
	if err != nil {
		return stateFile{}, err
	}
	return f, nil
}
