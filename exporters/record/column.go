// Kinds of columns of a block in ClickHouse's Native format: numbers, text, arrays, tuples.

package record

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unsafe"

	"github.com/ClickHouse/ch-go/proto"
)

// column is a column of a block, or a part of one. Records are put into it, and store moves their values to the Columns that
// it was begun for. Rows that nobody sets have its default: most fields of most records are not known, and cost nothing.
type column interface {
	kind() string           // ClickHouse's name of its type
	place(at int) (end int) // says where in Columns.data its data begin, and those of the next column
	begin(c *Columns)
	store(rows int, last bool)        // there are so many rows, a multiple of chunk unless they are the last
	empty(c *Columns) bool            // no row was set
	write(b *nativeBlock, all []Rows) // appends rows, one piece behind the other
}

// chunk is how many rows of numbers are put before they are stored. Until then they are where a put is a store and no more.
const chunk = 64

// data is what Columns have of a column, or of a part of one, as it is sent. Of one that is empty they have no row.
type data struct {
	rows   int
	values proto.Buffer
	nulls  []byte // of each number that may be unknown: 1 where it is
}

// leaf is a column that has data.
type leaf struct {
	at int   // in Columns.data
	to *data // of the Columns that it was begun for
}

func (l *leaf) of(c *Columns) *data   { return &c.data[l.at] }
func (l *leaf) begin(c *Columns)      { l.to = l.of(c) }
func (l *leaf) empty(c *Columns) bool { return l.of(c).rows == 0 }
func (l *leaf) place(at int) int {
	l.at = at
	return at + 1
}

// cells are the values of a column of numbers; the types of package proto write them.
type cells[T any] interface {
	~[]T
	EncodeColumn(*proto.Buffer)
}

// numbers is a column of values of a fixed size.
type numbers[T any, C cells[T]] struct {
	leaf
	name     string // ClickHouse's, of their type
	nullable bool
	missing  byte   // each byte of rows that nobody sets, beside their null
	set      uint64 // which rows of now are set, a bit each
	now      [chunk]T
}

type (
	bytes8   = numbers[uint8, proto.ColUInt8]
	numbers2 = numbers[uint16, proto.ColUInt16]
	numbers4 = numbers[uint32, proto.ColUInt32]
	numbers8 = numbers[uint64, proto.ColUInt64]
	times    = numbers[int64, proto.ColInt64]
	floats   = numbers[float32, proto.ColFloat32]
	addrs    = numbers[proto.IPv6, proto.ColIPv6]
)

func (c *numbers[T, C]) put(row int, v T) {
	i := uint(row) % chunk
	c.now[i] = v
	c.set |= 1 << i
}

// width is how many bytes a value has.
func (c *numbers[T, C]) width() int { return int(unsafe.Sizeof(c.now[0])) }

func (c *numbers[T, C]) store(rows int, _ bool) {
	f, set := c.to, c.set
	if f.rows == rows || f.rows == 0 && set == 0 {
		return
	}
	first := (rows - 1) &^ (chunk - 1) // row that is in front of now
	if n := first - f.rows; n > 0 {
		extend(&f.values.Buf, n*c.width(), c.missing)
		if c.nullable {
			extend(&f.nulls, n, 1)
		}
	}
	n := rows - first
	C(c.now[:n]).EncodeColumn(&f.values)
	if c.nullable {
		extend(&f.nulls, n, 0)
	}
	for left := ^set << (chunk - n) >> (chunk - n); left != 0; left &= left - 1 {
		row := first + bits.TrailingZeros64(left)
		fill(f.values.Buf[row*c.width():][:c.width()], c.missing)
		if c.nullable {
			f.nulls[row] = 1
		}
	}
	f.rows, c.set = rows, 0
}

// extend appends n bytes of a value.
func extend(b *[]byte, n int, v byte) {
	at := len(*b)
	*b = slices.Grow(*b, n)[:at+n]
	fill((*b)[at:], v)
}

func fill(b []byte, v byte) {
	if v == 0 || len(b) == 0 {
		clear(b)
		return
	}
	b[0] = v
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

func (c *numbers[T, C]) write(b *nativeBlock, all []Rows) {
	if c.nullable {
		for _, p := range all {
			c.of(p.Of).write(b, p, c.of(p.Of).nulls, 1, 1)
		}
	}
	for _, p := range all {
		c.of(p.Of).write(b, p, c.of(p.Of).values.Buf, c.width(), c.missing)
	}
}

// write appends the rows of p, each of so many bytes of all. Where there are none, each of these is missing.
func (d *data) write(b *nativeBlock, p Rows, all []byte, width int, missing byte) {
	if d.rows == 0 {
		extend(&b.Buf, (p.To-p.From)*width, missing)
	} else {
		b.PutRaw(all[p.From*width : p.To*width])
	}
	b.spill()
}

func (c *numbers[T, C]) kind() string {
	if c.nullable {
		return "Nullable(" + c.name + ")"
	}
	return c.name
}

// texts is a column of strings, which are stored as they are put: each with its length in front.
type texts struct{ leaf }

// open begins the text of a row behind b, which the caller appends to; close ends it.
func (c *texts) open(row int) (b []byte, at int) {
	c.pad(row)
	b = append(c.to.values.Buf, 0)
	return b, len(b)
}

func (c *texts) close(b []byte, at int) {
	c.to.rows++
	c.to.values.Buf = closeField(b, at)
}

func (c *texts) put(row int, s string) {
	b, at := c.open(row)
	c.close(append(b, s...), at)
}

// putHex sets a row to bytes as hexadecimal digits if there are any.
func (c *texts) putHex(row int, bytes []byte) {
	if len(bytes) > 0 {
		b, at := c.open(row)
		c.close(appendHex(b, bytes), at)
	}
}

func (c *texts) pad(rows int) {
	if n := rows - c.to.rows; n > 0 {
		extend(&c.to.values.Buf, n, 0)
		c.to.rows = rows
	}
}

func (c *texts) store(rows int, last bool) {
	if last && c.to.rows > 0 {
		c.pad(rows)
	}
}

func (c *texts) write(b *nativeBlock, all []Rows) {
	for _, p := range all {
		f := c.of(p.Of)
		if f.rows == 0 {
			extend(&b.Buf, p.To-p.From, 0)
			continue
		}
		start, end := 0, len(f.values.Buf)
		if p.From > 0 || p.To < f.rows {
			start = f.offset(0, p.From)
			end = f.offset(start, p.To-p.From)
		}
		b.PutRaw(f.values.Buf[start:end])
		b.spill()
	}
}

// offset is where the text stands that comes n texts behind the one at an offset.
func (d *data) offset(at, n int) int {
	for range n {
		length, width := binary.Uvarint(d.values.Buf[at:])
		at += width + int(length)
	}
	return at
}

func (c *texts) kind() string { return "String" }

// list is a column of arrays: where each ends among the elements of all.
type list struct {
	leaf
	elements column
	n        int // elements
}

// open begins the array of a row; next is the row of another element, which the caller sets; close ends the array.
func (c *list) open(row int) {
	for c.to.rows < row {
		c.close()
	}
}

func (c *list) next() (row int) {
	if c.n%chunk == 0 && c.n > 0 {
		c.elements.store(c.n, false)
	}
	c.n++
	return c.n - 1
}

func (c *list) close() {
	c.to.rows++
	c.to.values.PutUInt64(uint64(c.n))
}

func (c *list) place(at int) int { return c.elements.place(c.leaf.place(at)) }

func (c *list) begin(to *Columns) {
	c.leaf.begin(to)
	c.elements.begin(to)
	c.n = 0
}

func (c *list) store(rows int, last bool) {
	if last && c.to.rows > 0 {
		c.open(rows)
		c.elements.store(c.n, true)
	}
}

// before is the number of elements in front of a row.
func (d *data) before(row int) uint64 {
	if row == 0 {
		return 0
	}
	return binary.LittleEndian.Uint64(d.values.Buf[8*(row-1):])
}

func (c *list) write(b *nativeBlock, all []Rows) {
	elements, n := make([]Rows, 0, len(all)), uint64(0)
	for _, p := range all {
		f, first, last := c.of(p.Of), uint64(0), uint64(0)
		if f.rows == 0 {
			for range p.To - p.From {
				b.PutUInt64(n)
			}
		} else {
			first, last = f.before(p.From), f.before(p.To)
			for row := p.From + 1; row <= p.To; row++ {
				b.PutUInt64(n + f.before(row) - first)
			}
		}
		b.spill()
		n += last - first
		elements = append(elements, Rows{p.Of, int(first), int(last)})
	}
	c.elements.write(b, elements)
}

func (c *list) kind() string { return "Array(" + c.elements.kind() + ")" }

// named are columns with their names: those of a block, or the elements of a tuple.
type named []namedColumn

type namedColumn struct {
	name string
	column
}

func (c *named) add(name string, d column) { *c = append(*c, namedColumn{name, d}) }

func (c named) place(at int) int {
	for _, d := range c {
		at = d.place(at)
	}
	return at
}

func (c named) begin(to *Columns) {
	for _, d := range c {
		d.begin(to)
	}
}

func (c named) store(rows int, last bool) {
	for _, d := range c {
		d.store(rows, last)
	}
}

func (c named) empty(of *Columns) bool {
	return !slices.ContainsFunc(c, func(d namedColumn) bool { return !d.empty(of) })
}

func (c named) write(b *nativeBlock, all []Rows) {
	for _, d := range c {
		d.write(b, all)
	}
}

func (c named) kind() string {
	var elements []string
	for _, d := range c {
		elements = append(elements, "`"+d.name+"` "+d.kind())
	}
	return "Tuple(" + strings.Join(elements, ", ") + ")"
}

// Makers of columns: n1 to n8 are numbers of so many bytes, null those that may be unknown.

func (c *named) text(name string) *texts {
	d := new(texts)
	c.add(name, d)
	return d
}

func number[T any, C cells[T]](c *named, name, of string, nullable bool) *numbers[T, C] {
	d := &numbers[T, C]{name: of, nullable: nullable}
	c.add(name, d)
	return d
}

func (c *named) n1(name string) *bytes8 {
	return number[uint8, proto.ColUInt8](c, name, "UInt8", false)
}
func (c *named) flag(name string) *bytes8 {
	return number[uint8, proto.ColUInt8](c, name, "Bool", false)
}
func (c *named) n2(name string) *numbers2 {
	return number[uint16, proto.ColUInt16](c, name, "UInt16", false)
}
func (c *named) n4(name string) *numbers4 {
	return number[uint32, proto.ColUInt32](c, name, "UInt32", false)
}
func (c *named) n8(name string) *numbers8 {
	return number[uint64, proto.ColUInt64](c, name, "UInt64", false)
}
func (c *named) time(name string) *times {
	return number[int64, proto.ColInt64](c, name, nanoseconds, false)
}
func (c *named) null1(name string) *bytes8 {
	return number[uint8, proto.ColUInt8](c, name, "UInt8", true)
}
func (c *named) null2(name string) *numbers2 {
	return number[uint16, proto.ColUInt16](c, name, "UInt16", true)
}
func (c *named) null4(name string) *numbers4 {
	return number[uint32, proto.ColUInt32](c, name, "UInt32", true)
}
func (c *named) null8(name string) *numbers8 {
	return number[uint64, proto.ColUInt64](c, name, "UInt64", true)
}
func (c *named) nullTime(name string) *times {
	return number[int64, proto.ColInt64](c, name, nanoseconds, true)
}
func (c *named) nullFloat(name string) *floats {
	return number[float32, proto.ColFloat32](c, name, "Float32", true)
}
func (c *named) nullAddr(name string) *addrs {
	return number[proto.IPv6, proto.ColIPv6](c, name, "IPv6", true)
}

const nanoseconds = "DateTime64(9, 'UTC')"

func (c *named) list(name string, of column) *list {
	d := &list{elements: of}
	c.add(name, d)
	return d
}

func (c *named) texts(name string) (*list, *texts) {
	of := new(texts)
	return c.list(name, of), of
}

func (c *named) numbers(name string) (*list, *numbers2) {
	of := new(named).n2("")
	return c.list(name, of), of
}

// tuple returns the tuple of the columns that define defines.
func tuple(define func(*named)) *named {
	t := new(named)
	define(t)
	return t
}
