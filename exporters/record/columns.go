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
	reportColumns
}

// newFiller returns the columns. Their order is that of Fields.
func newFiller() *filler {
	c := new(filler)
	c.define(&c.all)
	c.all.place(0)
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
