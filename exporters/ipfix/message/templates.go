// Templates: what exporters have told of their data records, bounded in number and by time.

package message

import "net/netip"

// Bounds of templates: of all, of one source address, and of the fields of one.
const (
	MaxTemplates = 4096
	shareOfOne   = MaxTemplates / 8
	maxFields    = 1024
)

// maxKept is how many bytes a template has at most that Kept returns.
const maxKept = 512

// sweepEvery is how often those that were not told again are looked for at most while there is no room, in nanoseconds.
const sweepEvery = int64(1e9)

// session is a transport session over UDP, and an observation domain in it: there an id names one template.
type session struct {
	from   netip.AddrPort
	domain uint32
}

type templateKey struct {
	session
	id uint16
}

// template is how data records of one set are laid out.
type template struct {
	told    int64
	options bool
	whole   bool // it has all wanted elements
	least   int  // bytes of the shortest data record
	fields  []field
	record  []byte // as it was told, with its id; none of one that is too long to be kept
}

// field is an element in a data record, or several that are not wanted.
type field struct {
	length int // Variable: the record says
	wanted int // index in Data; -1: it is skipped
}

// Templates are those of all sessions. It is not safe for concurrent use, and takes the time as a parameter.
type Templates struct {
	wanted   Wanted
	lifetime int64
	all      map[templateKey]*template
	owned    map[netip.Addr]int
	sweep    int64 // none is looked for before
}

// NewTemplates makes a table. A template that was not told again for lifetime, in nanoseconds, is forgotten.
func NewTemplates(wanted Wanted, lifetime int64) *Templates {
	return &Templates{wanted: wanted, lifetime: lifetime, all: map[templateKey]*template{}, owned: map[netip.Addr]int{}}
}

// Len returns how many there are.
func (t *Templates) Len() int { return len(t.all) }

// get returns a template, nil where there is none.
func (t *Templates) get(k templateKey, now int64) *template {
	x := t.all[k]
	if x != nil && now-x.told > t.lifetime {
		t.remove(k)
		return nil
	}
	return x
}

func (t *Templates) remove(k templateKey) {
	if t.all[k] == nil {
		return
	}
	delete(t.all, k)
	a := k.from.Addr()
	if t.owned[a]--; t.owned[a] == 0 {
		delete(t.owned, a)
	}
}

// put takes a template in place of the one with its id. It returns false if there is no room.
func (t *Templates) put(k templateKey, x *template) bool {
	a := k.from.Addr()
	if t.all[k] == nil {
		full := func() bool { return len(t.all) >= MaxTemplates || t.owned[a] >= shareOfOne }
		if full() && x.told >= t.sweep {
			t.sweep = x.told + sweepEvery
			for old := range t.all {
				t.get(old, x.told)
			}
		}
		if full() {
			return false
		}
		t.owned[a]++
	}
	t.all[k] = x
	return true
}

// read takes the templates of a set.
func (t *Templates) read(s session, options bool, body []byte, now int64, c *Counts, without func([]Element)) {
	for len(body) >= 4 { // less is padding
		k := templateKey{s, be.Uint16(body)}
		count := int(be.Uint16(body[2:]))
		if count == 0 { // over UDP it means nothing (RFC 7011, section 8.4): the template goes when it is not told again
			body = body[4:]
			c.Unread[Withdrawal]++
			continue
		}
		x, n := t.parse(options, count, body)
		if x == nil || k.id < FirstTemplate {
			t.remove(k) // data of what cannot be read is not that of the template before
			c.Unread[BadTemplate]++
			if n == 0 { // where the next one begins is not known
				return
			}
			body = body[n:]
			continue
		}
		if x.told = now; n <= maxKept {
			x.record = append(x.record, body[:n]...)
		}
		if !x.whole && !options && t.all[k] == nil {
			without(elements(count, body[4:]))
		}
		if body = body[n:]; t.put(k, x) {
			c.Templates++
		} else {
			c.Unread[NoRoom]++
		}
	}
}

// parse reads one template at the start of b, and returns how long it is; nil: it is unsound, and with 0 it goes beyond b.
func (t *Templates) parse(options bool, count int, b []byte) (x *template, n int) {
	x, n = &template{options: options}, 4
	scopes := 1
	if options {
		if n += 2; len(b) < n {
			return nil, 0
		}
		scopes = int(be.Uint16(b[4:]))
	}
	var found [NumWanted]bool
	twice := false
	for range count {
		if len(b) < n+4 {
			return nil, 0
		}
		e, length := Element{ID: be.Uint16(b[n:])}, int(be.Uint16(b[n+2:]))
		if n += 4; e.ID&EnterpriseBit != 0 {
			if len(b) < n+4 {
				return nil, 0
			}
			e.ID, e.Enterprise = e.ID&^EnterpriseBit, be.Uint32(b[n:])
			n += 4
		}
		if length == Variable {
			x.least++
		} else {
			x.least += length
		}
		if len(x.fields) < maxFields {
			x.add(t.wanted.index(e), length, &found, &twice)
		}
	}
	x.whole = !options && found == [NumWanted]bool{true, true, true}
	if x.least == 0 || x.least > Variable || count > maxFields || scopes == 0 || scopes > count || twice && x.whole {
		return nil, n
	}
	return x, n
}

// add adds an element of a length, which is Data[wanted] where that is not below 0.
func (x *template) add(wanted, length int, found *[NumWanted]bool, twice *bool) {
	last := len(x.fields) - 1
	if wanted < 0 && length != Variable && last >= 0 && x.fields[last].wanted < 0 && x.fields[last].length < Variable-length {
		x.fields[last].length += length // but never to Variable
		return
	}
	if wanted >= 0 {
		*twice = *twice || found[wanted]
		found[wanted] = true
	}
	x.fields = append(x.fields, field{length, wanted})
}

// index is where Data has e; below 0: it is not wanted.
func (w *Wanted) index(e Element) int {
	for i := range w {
		if w[i] == e {
			return i
		}
	}
	return -1
}

// elements are the first ones of a template whose fields are sound.
func elements(count int, b []byte) (all []Element) {
	const most = 16
	for range min(count, most) {
		e := Element{ID: be.Uint16(b)}
		if b = b[4:]; e.ID&EnterpriseBit != 0 {
			e.ID, e.Enterprise = e.ID&^EnterpriseBit, be.Uint32(b)
			b = b[4:]
		}
		all = append(all, e)
	}
	return all
}

// Kept is a template for who keeps it over a restart: an exporter does not know that it has to tell it again.
type Kept struct {
	From    netip.AddrPort `json:"from"`
	Domain  uint32         `json:"domain"`
	Options bool           `json:"options,omitempty"`
	At      int64          `json:"at"` // when it was told, Unix nanoseconds
	Record  []byte         `json:"record"`
}

// Kept returns the templates; now and wall are the present time, of the table and in Unix nanoseconds.
func (t *Templates) Kept(now, wall int64) (all []Kept) {
	for k, x := range t.all {
		if len(x.record) > 0 {
			all = append(all, Kept{k.from, k.domain, x.options, wall - (now - x.told), x.record})
		}
	}
	return all
}

// Keep takes what Kept has returned, unless it was told too long ago.
func (t *Templates) Keep(all []Kept, now, wall int64) {
	var c Counts
	for _, k := range all {
		if age := max(wall-k.At, 0); age <= t.lifetime {
			t.read(session{k.From, k.Domain}, k.Options, k.Record, now-age, &c, func([]Element) {})
		}
	}
}
