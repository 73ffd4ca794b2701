// The state as a file of the state folder holds it: each place with its classes.

package usual

import (
	"encoding/binary"
	"errors"
	"math"
)

// Encode returns the state of u: how many places there are, and each; then their drifts, which a version of before does not read.
func (u *Usual) Encode() []byte {
	var places, drifts []byte
	n := uint32(0)
	u.mu.Lock()
	u.queues.Walk(0, math.MaxInt, func(key [2]uint64, _ uint32, q *queue) {
		places, n = q.place.encode(places, Queue, key), n+1
		places = q.occupancy.encode(places)
		drifts = q.occupancyDrift.encode(q.drift.encode(drifts))
	})
	for k := Hop; k < NumKinds; k++ {
		u.others[k].Walk(0, math.MaxInt, func(key [2]uint64, _ uint32, p *place) {
			places, n = p.encode(places, k, key), n+1
			drifts = p.drift.encode(drifts)
		})
	}
	u.nodes.Walk(0, math.MaxInt, func(key [2]uint64, _ uint32, q *queue) {
		places, n = q.place.encode(places, aNode, key), n+1
		places = q.occupancy.encode(places)
		drifts = q.occupancyDrift.encode(q.drift.encode(drifts))
	})
	u.mu.Unlock()
	return append(append(binary.BigEndian.AppendUint32(nil, n), places...), drifts...)
}

func (d *drift) encode(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(d.settled))
	return binary.BigEndian.AppendUint64(b, uint64(d.since))
}

// aNode is the kind of a node in the file.
const aNode = NumKinds

func (p *place) encode(b []byte, k Kind, key [2]uint64) []byte {
	b = binary.BigEndian.AppendUint64(append(b, byte(k)), key[0])
	b = binary.BigEndian.AppendUint64(b, key[1])
	b = binary.BigEndian.AppendUint64(b, uint64(p.first))
	b = binary.BigEndian.AppendUint64(b, uint64(p.minute))
	return p.latency.encode(b)
}

// encode appends what m follows, and the classes that are not empty. The minute at hand is left out: it is not over.
func (m *Measure) encode(b []byte) []byte {
	for _, x := range m.most {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(x))
	}
	at, n := len(b), 0
	b = append(b, 0)
	for i := range m.day {
		if m.day[i] > 0 {
			b = binary.BigEndian.AppendUint32(append(b, byte(i)), math.Float32bits(m.hour[i]))
			b, n = binary.BigEndian.AppendUint32(b, math.Float32bits(m.day[i])), n+1
		}
	}
	b[at] = byte(n)
	return b
}

var errPlaces = errors.New("its places cannot be read")

// Decode takes in a state that Encode returned. With an error u is as it was.
func (u *Usual) Decode(b []byte, now int64) error {
	d := decoder{b: b}
	n := binary.BigEndian.Uint32(d.take(4))
	if d.failed {
		return errPlaces
	}
	fresh := make([]decoded, 0, min(n, (NumKinds+1).places()))
	for range n {
		x := d.place(now)
		if d.failed {
			return errPlaces
		}
		fresh = append(fresh, x)
	}
	for i := 0; i < len(fresh) && len(d.b) > 0; i++ { // a file of before has none
		x := &fresh[i]
		d.drift(&x.drift, now)
		if x.Kind == Queue || x.Kind == aNode {
			d.drift(&x.occupancyDrift, now)
		}
		if d.failed {
			return errPlaces
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range fresh {
		u.restore(&fresh[i], now)
	}
	return nil
}

// places returns how many places there are room for, of so many kinds.
func (k Kind) places() uint32 { return uint32(k) * MaxPlaces }

// decoded is a place of a file.
type decoded struct {
	Place
	queue
}

// restore makes x a place of u.
func (u *Usual) restore(x *decoded, now int64) {
	x.usual, x.usualOccupancy = x.latency.follow(x.latency.stat()), x.occupancy.follow(x.occupancy.stat())
	switch x.Kind {
	case aNode:
		n, _ := u.nodes.Get(now, x.Key)
		*n = x.queue
	case Queue:
		q, _ := u.queues.Get(now, x.Key)
		*q = x.queue
		u.noteChange(x.Place, q.occupancyDrift.since != 0)
		u.setLimit(x.Key, q)
	default:
		p, _ := u.others[x.Kind].Get(now, x.Key)
		*p = x.place
		u.noteChange(x.Place, x.Kind != Path && p.drift.since != 0)
	}
}

// decoder reads places; failed: something is not as Encode writes it.
type decoder struct {
	b      []byte
	failed bool
}

// take returns the next n bytes.
func (d *decoder) take(n int) []byte {
	if d.failed = d.failed || len(d.b) < n; d.failed {
		return make([]byte, n)
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) place(now int64) (x decoded) {
	b := d.take(1 + 4*8)
	x.Kind = Kind(b[0])
	x.Key = [2]uint64{binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])}
	x.first, x.minute = int64(binary.BigEndian.Uint64(b[17:])), int64(binary.BigEndian.Uint64(b[25:]))
	d.failed = d.failed || x.Kind > aNode || x.first <= 0
	x.first, x.minute = min(x.first, max(now, 1)), min(x.minute, now/minute)
	d.measure(&x.latency)
	if x.Kind == Queue || x.Kind == aNode {
		d.measure(&x.occupancy)
	}
	return x
}

func (d *decoder) drift(x *drift, now int64) {
	b := d.take(4 + 8)
	x.settled, x.since = math.Float32frombits(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint64(b[4:]))
	d.failed = d.failed || !(x.settled >= 0 && x.settled < 1e10) || x.since < 0
	x.since = min(x.since, now)
}

func (d *decoder) measure(m *Measure) {
	for i := range m.most {
		m.most[i] = math.Float32frombits(binary.BigEndian.Uint32(d.take(4)))
		d.failed = d.failed || !(m.most[i] >= 0 && m.most[i] < 1e10)
	}
	for range d.take(1)[0] {
		b := d.take(9)
		hour, day := math.Float32frombits(binary.BigEndian.Uint32(b[1:])), math.Float32frombits(binary.BigEndian.Uint32(b[5:]))
		sound := b[0] < classes && hour >= 0 && hour < 1e9 && day >= 0 && day < 1e9
		if d.failed = d.failed || !sound; d.failed {
			return
		}
		m.hour[b[0]], m.day[b[0]] = hour, day
	}
}
