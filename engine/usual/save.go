// The state as a file holds it: which sink and when, each place with its classes, a checksum.

package usual

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// The head of a file: magic, version, whose it is, when it was written, how many places follow. Behind the
// places stands the CRC-32C of all.
const (
	magic   = "intsink-usual\n"
	version = 1
	headLen = len(magic) + 2 + 8 + 8 + 4
)

// mostAge is how old a state may be: what was usual a week ago says little.
const mostAge = 7 * 24 * 60 * minute

var table = crc32.MakeTable(crc32.Castagnoli)

// Encode returns the state of u, of the sink with that number.
func (u *Usual) Encode(sink uint64, now int64) []byte {
	var places []byte
	n := uint32(0)
	u.mu.Lock()
	u.queues.Walk(0, math.MaxInt, func(key [2]uint64, _ uint32, q *queue) {
		places, n = q.place.encode(places, Queue, key), n+1
		places = q.occupancy.encode(places)
	})
	for k := Hop; k < NumKinds; k++ {
		u.others[k].Walk(0, math.MaxInt, func(key [2]uint64, _ uint32, p *place) { places, n = p.encode(places, k, key), n+1 })
	}
	u.mu.Unlock()
	out := binary.BigEndian.AppendUint16([]byte(magic), version)
	out = binary.BigEndian.AppendUint64(out, sink)
	out = binary.BigEndian.AppendUint64(out, uint64(now))
	out = append(binary.BigEndian.AppendUint32(out, n), places...)
	return binary.BigEndian.AppendUint32(out, crc32.Checksum(out, table))
}

func (p *place) encode(b []byte, k Kind, key [2]uint64) []byte {
	b = binary.BigEndian.AppendUint64(append(b, byte(k)), key[0])
	b = binary.BigEndian.AppendUint64(b, key[1])
	b = binary.BigEndian.AppendUint64(b, uint64(p.first))
	b = binary.BigEndian.AppendUint64(b, uint64(p.minute))
	return p.latency.encode(b)
}

// encode appends the classes that are not empty. The minute at hand is left out: it is not over.
func (m *Measure) encode(b []byte) []byte {
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

// Why a state is not taken.
var (
	ErrTorn    = errors.New("it is not whole: its checksum does not fit")
	ErrVersion = errors.New("another version of intsink wrote it")
	ErrSink    = errors.New("it is another sink's")
	ErrOld     = errors.New("it is older than a week")
	errPlaces  = errors.New("its places cannot be read")
)

// Decode takes in a state that Encode returned, of the sink with that number. With an error u is as it was.
func (u *Usual) Decode(b []byte, sink uint64, now int64) error {
	if len(b) < headLen+4 || string(b[:len(magic)]) != magic {
		return ErrTorn
	}
	if v := binary.BigEndian.Uint16(b[len(magic):]); v != version {
		return fmt.Errorf("%w: %d, this one knows %d", ErrVersion, v, version)
	}
	end := len(b) - 4
	if crc32.Checksum(b[:end], table) != binary.BigEndian.Uint32(b[end:]) {
		return ErrTorn
	}
	head := b[len(magic)+2:]
	switch written := int64(binary.BigEndian.Uint64(head[8:])); {
	case binary.BigEndian.Uint64(head) != sink:
		return ErrSink
	case now-written > mostAge || written > now+mostAge:
		return ErrOld
	}
	d := decoder{b: b[headLen:end]}
	n := binary.BigEndian.Uint32(head[16:])
	fresh := make([]decoded, 0, min(n, NumKinds.places()))
	for range n {
		x := d.place(now)
		if d.failed {
			return errPlaces
		}
		fresh = append(fresh, x)
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
	x.usual, x.usualOccupancy = x.latency.stat(), x.occupancy.stat()
	if x.Kind != Queue {
		p, _ := u.others[x.Kind].Get(now, x.Key)
		*p = x.place
		return
	}
	q, _ := u.queues.Get(now, x.Key)
	*q = x.queue
	u.setLimit(x.Key, now, q)
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
	d.failed = d.failed || x.Kind >= NumKinds || x.first <= 0
	x.first, x.minute = min(x.first, max(now, 1)), min(x.minute, now/minute)
	d.measure(&x.latency)
	if x.Kind == Queue {
		d.measure(&x.occupancy)
	}
	return x
}

func (d *decoder) measure(m *Measure) {
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
