// Messages of IPFIX from switches that terminate IFA: each data record with IFA goes the way of a report packet, as a message of its
// own that has its template, with the number that the sequence gives it.

package collect

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"intsink/exporters/collect/spool"
	"intsink/exporters/collect/streams"
	"intsink/exporters/ipfix/message"
	"intsink/exporters/record"
)

// IPFIX says that what comes to a Listen are messages of terminators, not report packets.
type IPFIX struct {
	Wanted   message.Wanted // elements with IFA's headers, its metadata stack, the packet without IFA: record.IFAHeaders and so on
	Lifetime time.Duration  // a template that was not told again for so long is forgotten
}

// terminators is what a listen knows of them. The collector's lock guards it.
type terminators struct {
	IPFIX
	templates *message.Templates
	counts    message.Counts
	notIFA    uint64
	found     []dataRecord // of the message at hand
}

type dataRecord struct {
	fate message.Fate
	data message.Data
}

// TerminatorSnapshot counts what was in the messages of a listen.
type TerminatorSnapshot struct {
	message.Counts
	NotIFA uint64 // of Records[message.Whole]: their headers are not those of IFA 2.0
	Known  int    // templates
}

// Fate is what a data record of a message is.
type Fate uint8

const (
	ReportRecord  Fate = iota // of a packet with IFA: a record was made
	NotIFA                    // it has the elements, and no headers of IFA 2.0 in them
	OtherRecord               // its template has not all of the elements
	OptionsRecord             // of an options template: about the exporter
	NumFates
)

var fates = [NumFates]struct{ label, doc string }{
	ReportRecord:  {"report", "of a packet with IFA: a record was made"},
	NotIFA:        {"not_ifa", "with the elements of `ipfix`, and no headers of IFA 2.0 in them: these are 8 bytes, 12 or 16 with a checksum or fragments"},
	OtherRecord:   {"other", "its template has not all elements of `ipfix`"},
	OptionsRecord: {"options", "of an options template: about the exporter, not about packets"},
}

// String returns the label in metrics.
func (f Fate) String() string { return fates[f].label }

// Doc says in words what the label means.
func (f Fate) Doc() string { return fates[f].doc }

// Fates are how many data records of each fate there were: together as many as the streams have received.
func (s *TerminatorSnapshot) Fates() (all [NumFates]uint64) {
	all[ReportRecord], all[NotIFA] = s.Records[message.Whole]-s.NotIFA, s.NotIFA
	all[OtherRecord], all[OptionsRecord] = s.Records[message.Other], s.Records[message.Options]
	return all
}

func newTerminators(x *IPFIX) *terminators {
	if x == nil {
		return nil
	}
	return &terminators{IPFIX: *x, templates: message.NewTemplates(x.Wanted, int64(x.Lifetime))}
}

// listenTemplates are those that came to one address, for the next process.
type listenTemplates struct {
	Collector netip.AddrPort `json:"collector"`
	Kept      []message.Kept `json:"kept"`
}

// times are the present time: since the start, and in Unix nanoseconds.
func (c *Collector) times() (monotonic, wall int64) {
	now := time.Now()
	return int64(now.Sub(c.began)), now.UnixNano()
}

func (x *terminators) snapshot() *TerminatorSnapshot {
	if x == nil {
		return nil
	}
	return &TerminatorSnapshot{x.counts, x.notIFA, x.templates.Len()}
}

// messageSize is as how many bytes of a message count as one for the limit of its exporter.
const messageSize = 1500

// admitMessage is admit for a datagram from a terminator: it appends a message of its own for each data record with IFA to taken.
func (c *Collector) admitMessage(l *listen, s *socket, d *datagram, now int64, taken []incoming, gap func(streams.Gap)) []incoming {
	x := l.terminators
	if !l.exporters.take(d.from.Addr(), now, max(1, float64(len(d.payload))/messageSize)) {
		l.refused[OverLimit]++
		return taken
	}
	h, ok := message.ReadHeader(d.payload)
	if !ok {
		l.refused[NotReport]++
		return taken
	}
	n, counts := x.read(c, l, d, h, now)
	if n > mostReports {
		l.refused[NotReport]++
		return taken
	}
	if n > 0 {
		first := streams.OfMessage(h, nil)
		times := streams.Times{Arrived: d.arrived, Monotonic: now}
		st := l.streams.Find(streams.KeyOf(d.from.Addr(), s.local, &first), first, times)
		if st == nil {
			l.refused[TooManyStreams]++
			c.log.Say(noRoom, "listen", l.Name, "exporter", d.from.Addr(), "node_id", h.Domain)
			return taken
		}
		st.Behind.Set(d.arrived - int64(h.Time)*1e9)
		taken = c.takeRecords(l, st, d, h, times, taken, gap)
	}
	l.packets++
	x.counts.Add(&counts)
	return taken
}

// read has the data records of a message in x.found, as many as a message may have, and returns how many there are.
func (x *terminators) read(c *Collector, l *listen, d *datagram, h message.Header, now int64) (n int, counts message.Counts) {
	x.found = x.found[:0]
	lacking := func(elements []message.Element) {
		c.log.Say("a template without the elements that ipfix names: its data records are counted as other", "listen", l.Name, "exporter", d.from, "domain", h.Domain, "elements", list(elements))
	}
	x.templates.Read(d.payload, h, d.from, now, &counts, lacking, func(f message.Fate, data *message.Data) {
		if n++; n <= mostReports {
			x.found = append(x.found, dataRecord{f, *data})
		}
	})
	if counts.Unread[message.NoTemplate] > 0 {
		c.log.Say("data whose template has not come yet cannot be read and counts as lost: have the exporter tell its templates more often", "listen", l.Name, "exporter", d.from, "domain", h.Domain)
	}
	return n, counts
}

// list writes elements as the registry of vendors has them, ENTERPRISE:ID.
func list(elements []message.Element) string {
	var all []string
	for _, e := range elements {
		all = append(all, fmt.Sprintf("%d:%d", e.Enterprise, e.ID))
	}
	return strings.Join(all, " ")
}

// takeRecords enters each data record in x.found into the stream, and appends those with IFA to taken.
func (c *Collector) takeRecords(l *listen, st *streams.Stream, d *datagram, h message.Header, times streams.Times, taken []incoming, gap func(streams.Gap)) []incoming {
	x := l.terminators
	own := make([]datagram, 0, len(x.found))
	for i := range x.found {
		r := &x.found[i]
		sound := r.fate == message.Whole && record.ClipIFA(&r.data)
		var m []byte
		if sound {
			m = message.Append(nil, h, &x.Wanted, r.data)
		}
		began := st.Received == 0
		place := st.See(streams.OfMessage(h, m), times, gap)
		if began {
			c.beganHere(l, st.Key, st.Start(), place.Sequence, d.arrived)
		}
		h.Sequence++
		switch {
		case sound:
			own = append(own, datagram{d.from, d.arrived, m})
			taken = append(taken, incoming{&own[len(own)-1], spool.Message, st, place})
		case r.fate == message.Whole:
			x.notIFA++
			st.Undecodable++
		}
	}
	c.tellTwins(l, st)
	return taken
}
