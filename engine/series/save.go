// What was, as files of the state folder hold it: the points of places and of counters, without the gaps between them.

package series

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"intsink/engine/usual"
)

// mostSaved is about how many bytes Encode of Places returns at most: those that had a sample last come first.
const mostSaved = 16 << 20

var errState = errors.New("its points cannot be read")

// Encode returns the points of the places that had a sample last. Places are locked for one of them at a time.
func (p *Places) Encode() []byte {
	type known struct {
		kind, at int
		entry
	}
	var all []known
	p.mu.Lock()
	for k := range p.kinds {
		for at, e := range p.kinds[k].places[:p.kinds[k].used] {
			all = append(all, known{k, at, e})
		}
	}
	p.mu.Unlock()
	slices.SortStableFunc(all, func(a, b known) int { return int(min(max(b.seen-a.seen, -1), 1)) })
	var out []byte
	for _, e := range all {
		if len(out) >= mostSaved {
			break
		}
		t := &p.kinds[e.kind]
		p.mu.Lock()
		if t.places[e.at].key == e.key { // it has not made room meanwhile
			out = binary.BigEndian.AppendUint64(append(out, byte(e.kind)), e.key[0])
			out = binary.BigEndian.AppendUint64(out, e.key[1])
			out = binary.BigEndian.AppendUint64(out, uint64(t.places[e.at].seen))
			for i := range t.width {
				out = t.tracks[e.at*t.width+i].encode(out)
			}
		}
		p.mu.Unlock()
	}
	return out
}

// Decode takes in what Encode returned, but for what is later than now: the clock was set. With an error p is empty.
func (p *Places) Decode(b []byte, now int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := decoder{b: b}
	for len(d.b) > 0 && !d.failed {
		head := d.take(1 + 3*8)
		key := [2]uint64{binary.BigEndian.Uint64(head[1:]), binary.BigEndian.Uint64(head[9:])}
		seen := int64(binary.BigEndian.Uint64(head[17:]))
		if d.failed = d.failed || head[0] >= byte(usual.NumKinds); d.failed {
			break
		}
		t := &p.kinds[head[0]]
		at, spare := t.get(key, min(seen, now)), track{}
		for i := range t.width {
			if at < 0 { // there is less room than there was
				spare.decode(&d, now)
			} else {
				t.tracks[at*t.width+i].decode(&d, now)
			}
		}
	}
	if d.failed {
		for k := range p.kinds {
			t := &p.kinds[k]
			clear(t.index)
			clear(t.tracks[:t.used*t.width])
			t.used, t.hand = 0, 0
		}
		return errState
	}
	return nil
}

func (t *track) encode(b []byte) []byte {
	for _, x := range []struct {
		hand   *counts
		points []packed
	}{{&t.seconds, t.points[:Seconds]}, {&t.minutes, t.points[Seconds:]}} {
		n := int64(len(x.points))
		b = appendRuns(b, x.hand.at, n, func(i int64) uint64 {
			if i == x.hand.at {
				return uint64(x.hand.sofar(x.points))
			}
			return uint64(x.points[i%n])
		})
	}
	return b
}

func (t *track) decode(d *decoder, now int64) {
	t.seconds.at = d.runs(Seconds, now/second, func(i int64, x uint64) { t.points[i%Seconds] = packed(x) })
	t.minutes.at = d.runs(Minutes, now/minute, func(i int64, x uint64) { t.points[Seconds+i%Minutes] = packed(x) })
	if t.seconds.at == 0 || t.minutes.at == 0 {
		*t = track{}
	}
}

// Encode returns by how much each counter grew.
func (c *Counts) Encode() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := slices.SortedFunc(maps.Keys(c.names), func(a, b string) int { return c.names[a] - c.names[b] })
	var out []byte
	for _, name := range names {
		r := &c.rows[c.names[name]]
		out = append(binary.AppendUvarint(out, uint64(len(name))), name...)
		out = appendRuns(out, r.at, Seconds, func(i int64) uint64 { return uint64(r.seconds[i%Seconds]) })
		out = appendRuns(out, r.at/60, Minutes, func(i int64) uint64 { return uint64(r.minutes[i%Minutes]) })
	}
	return out
}

// Decode takes in what Encode returned, but for counters that nobody has looked at for a day, or later than now. With an
// error c is empty. The next Look finds out where a counter stands: it may have begun anew.
func (c *Counts) Decode(b []byte, now int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := decoder{b: b}
	for len(d.b) > 0 && !d.failed && len(c.names) < MostRows {
		name := string(d.take(d.uvarint()))
		at, known := c.names[name]
		if !known {
			at = len(c.names)
		}
		r := &c.rows[at]
		*r = row{unknown: true}
		r.at = d.runs(Seconds, now/second, func(i int64, x uint64) { r.seconds[i%Seconds] = growth(x) })
		d.runs(Minutes, now/minute, func(i int64, x uint64) { r.minutes[i%Minutes] = growth(x) })
		if r.at <= now/second-Minutes*60 {
			*r = row{}
			continue
		}
		c.names[name] = at
		if link, direction, is := linkOf(name); is {
			c.addLink(link, direction)
		}
	}
	if d.failed {
		clear(c.rows[:min(len(c.names)+1, MostRows)])
		clear(c.names)
		c.links = nil
		return errState
	}
	return nil
}

// appendRuns appends the number of the last of n points, and runs of points that are not 0, the oldest first: how many lie
// between this one and the last, how many it has, and they; at the end a run that has none.
func appendRuns(b []byte, last, n int64, point func(i int64) uint64) []byte {
	b = binary.AppendUvarint(b, uint64(last))
	from := max(last-n+1, 0)
	for i := from; i <= last; {
		end := i
		for end <= last && point(end) != 0 {
			end++
		}
		if end == i {
			i++
			continue
		}
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(i-from)), uint64(end-i))
		for ; i < end; i++ {
			b = binary.AppendUvarint(b, point(i))
		}
		from = end
	}
	return append(b, 0, 0)
}

// decoder reads what Encode wrote; failed: something is not as it writes it.
type decoder struct {
	b      []byte
	failed bool
}

// take returns the next n bytes; where there are none, zeros, at most as many as a head has.
func (d *decoder) take(n uint64) []byte {
	if d.failed = d.failed || uint64(len(d.b)) < n; d.failed {
		return make([]byte, min(n, 64))
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) uvarint() uint64 {
	x, n := binary.Uvarint(d.b)
	if d.failed = d.failed || n <= 0; d.failed {
		return 0
	}
	d.b = d.b[n:]
	return x
}

// runs hands each point to set, and returns the number of the last; 0: it is later than now, and none was handed.
func (d *decoder) runs(n, now int64, set func(i int64, x uint64)) int64 {
	last := int64(d.uvarint())
	taken := last <= now
	if !taken {
		last = now
	}
	for i := max(last-n+1, 0); ; {
		skip, count := d.uvarint(), d.uvarint()
		if d.failed || count == 0 {
			break
		}
		if d.failed = skip > uint64(n) || count > uint64(n) || i+int64(skip+count) > last+1; d.failed {
			break
		}
		for i += int64(skip); count > 0; count-- {
			if x := d.uvarint(); taken {
				set(i, x)
			}
			i++
		}
	}
	if d.failed || !taken {
		return 0
	}
	return last
}
