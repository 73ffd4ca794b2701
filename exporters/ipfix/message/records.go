// Templates.Read: the data records of a message. Append writes, and Records reads again, messages that have one template and the
// wanted elements alone: whoever keeps them needs nothing that other messages told.

package message

import "net/netip"

// Unread says why a set, or a template, was not read. How many data records it has, or would have given, is not known: they are missing
// in the sequence.
type Unread uint8

const (
	NoTemplate  Unread = iota // a set of data whose template was not told, or not again in time
	BadSet                    // a set of data whose records do not end where it does, or with an id that no set has
	BadTemplate               // a template that cannot be
	NoRoom                    // a template beyond the bounds
	Withdrawal                // a withdrawal of a template, which UDP does not have
	NumUnread
)

var unread = [NumUnread]struct{ label, doc string }{
	NoTemplate:  {"no_template", "a set of data whose template was not told yet, or not again within `templates`"},
	BadSet:      {"bad_set", "a set of data whose records do not end where it does, or with a reserved id"},
	BadTemplate: {"bad_template", "a template that cannot be: an id below 256, lengths that go beyond its set, records without a byte, more than 1024 fields, an element of `ipfix` twice"},
	NoRoom:      {"no_room", "a template beyond 4096 of all exporters, or 512 of one address"},
	Withdrawal:  {"withdrawal", "a withdrawal of a template: over UDP it means nothing"},
}

// String returns the label in metrics.
func (u Unread) String() string { return unread[u].label }

// Doc says in words what the label means.
func (u Unread) Doc() string { return unread[u].doc }

// Fate is what a data record was.
type Fate uint8

const (
	Whole   Fate = iota // it has the wanted elements
	Other               // its template has not all of them
	Options             // of an options template: about the exporter, not about a packet
	NumFates
)

// Counts are what was in messages.
type Counts struct {
	Templates uint64
	Records   [NumFates]uint64
	Unread    [NumUnread]uint64
}

// Add adds o to c.
func (c *Counts) Add(o *Counts) {
	c.Templates += o.Templates
	for i, n := range o.Records {
		c.Records[i] += n
	}
	for i, n := range o.Unread {
		c.Unread[i] += n
	}
}

// Read takes the templates of a message that ReadHeader has read, and calls each with every data record in it, in their order; of fates
// other than Whole, data is empty. The session is that of the source address and port. It calls without with the elements of new
// templates that lack a wanted one.
func (t *Templates) Read(m []byte, h Header, from netip.AddrPort, now int64, c *Counts, without func([]Element), each func(Fate, *Data)) {
	s := session{from, h.Domain}
	for sets := m[HeaderLen:]; len(sets) > 0; {
		id, body, rest, ok := nextSet(sets)
		if !ok {
			return // cannot be: ReadHeader has seen it
		}
		sets = rest
		switch {
		case id == TemplateSet || id == OptionsTemplateSet:
			t.read(s, id == OptionsTemplateSet, body, now, c, without)
		case id < FirstTemplate:
			c.Unread[BadSet]++
		default:
			x := t.get(templateKey{s, id}, now)
			if x == nil {
				c.Unread[NoTemplate]++
			} else if !x.read(body, c, each) {
				c.Unread[BadSet]++
			}
		}
	}
}

// read reads the data records of a set. It returns false where one goes beyond its end.
func (x *template) read(body []byte, c *Counts, each func(Fate, *Data)) bool {
	fate := Other
	switch {
	case x.options:
		fate = Options
	case x.whole:
		fate = Whole
	}
	for !padding(body, x.least) {
		var d Data
		for _, f := range x.fields {
			v, rest, ok := value(body, f.length)
			if !ok {
				return false
			}
			if body = rest; f.wanted >= 0 && x.whole {
				d[f.wanted] = v
			}
		}
		c.Records[fate]++
		each(fate, &d)
	}
	return true
}

// padding reports whether what is left of a set is no record: it is shorter than any, or zeros up to the next word.
func padding(b []byte, least int) bool {
	if len(b) < least {
		return true
	}
	var sum byte
	for _, x := range b[:min(len(b), 4)] {
		sum |= x
	}
	return len(b) < 4 && sum == 0
}

// value takes an element of a length off b.
func value(b []byte, length int) (v, rest []byte, ok bool) {
	if length == Variable {
		if len(b) < 1 {
			return nil, nil, false
		}
		length, b = int(b[0]), b[1:]
		if length == longLength {
			if len(b) < 2 {
				return nil, nil, false
			}
			length, b = int(be.Uint16(b)), b[2:]
		}
	}
	if length > len(b) {
		return nil, nil, false
	}
	return b[:length:length], b[length:], true
}

// Append appends a message with the template of w and data records, whose values are together shorter than a message.
func Append(b []byte, h Header, w *Wanted, records ...Data) []byte {
	from := len(b)
	b = AppendHeader(b, h)
	set := len(b)
	b = append(b, 0, TemplateSet, 0, 0)
	b = be.AppendUint16(be.AppendUint16(b, FirstTemplate), NumWanted)
	for _, e := range w {
		b = AppendField(b, e, Variable)
	}
	SetLength(b[set:])
	set = len(b)
	b = be.AppendUint16(b, FirstTemplate)
	b = append(b, 0, 0)
	for _, d := range records {
		for _, v := range d {
			if len(v) < longLength {
				b = append(b, byte(len(v)))
			} else {
				b = be.AppendUint16(append(b, longLength), uint16(len(v)))
			}
			b = append(b, v...)
		}
	}
	SetLength(b[set:])
	SetLength(b[from:])
	return b
}

// AppendField appends a field of a template.
func AppendField(b []byte, e Element, length uint16) []byte {
	if e.Enterprise == 0 {
		return be.AppendUint16(be.AppendUint16(b, e.ID), length)
	}
	b = be.AppendUint16(be.AppendUint16(b, e.ID|EnterpriseBit), length)
	return be.AppendUint32(b, e.Enterprise)
}

// Records calls each with the data records of a message that Append made. It returns false where m is none.
func Records(m []byte, each func(*Data)) bool {
	if _, ok := ReadHeader(m); !ok {
		return false
	}
	id, _, sets, ok := nextSet(m[HeaderLen:])
	if !ok || id != TemplateSet {
		return false
	}
	id, body, rest, ok := nextSet(sets)
	if !ok || id != FirstTemplate || len(rest) > 0 {
		return false
	}
	for len(body) > 0 {
		var d Data
		for i := range d {
			if d[i], body, ok = value(body, Variable); !ok {
				return false
			}
		}
		each(&d)
	}
	return true
}
