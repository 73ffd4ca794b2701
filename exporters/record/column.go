// Kinds of columns of a block in ClickHouse's Native format: numbers, text, arrays, tuples.

package record

import (
	"encoding/binary"
	"slices"
	"strings"
	"unsafe"

	"github.com/ClickHouse/ch-go/proto"
)

// column is a column of a block, or a part of one. Rows that nobody sets get its default when the next one is set,
// or by pad: most fields of most records are not known, and cost nothing.
type column interface {
	kind() string                      // ClickHouse's name of its type
	empty() bool                       // no row was set
	pad(rows int)                      // sets all rows below rows that are not set; of a part that is empty, none
	write(b *nativeBlock, all []piece) // appends rows of columns of the same kind, one piece behind the other
	reset()
	size() int // bytes of memory
}

// piece is rows i to j-1 of a column that is padded, or empty: then they have its default.
type piece struct {
	column
	i, j int
}

// cells are the values of a column of numbers; the types of package proto write them.
type cells[T any] interface {
	~[]T
	EncodeColumn(*proto.Buffer)
}

// numbers is a column of values of a fixed size. missing is the value of rows that nobody sets, beside their null.
type numbers[T any, C cells[T]] struct {
	of       string // ClickHouse's name of their type
	nullable bool
	missing  T
	nulls    proto.ColUInt8
	values   C
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
	if len(c.values) < row {
		c.pad(row)
	}
	c.values = append(c.values, v)
}

// putKnown does as put if the value is known, else nothing.
func (c *numbers[T, C]) putKnown(row int, known bool, v T) {
	if known {
		c.set(row, v)
	}
}

// set is put, out of line: so putKnown is not, and a value that is not known costs no call.
//
//go:noinline
func (c *numbers[T, C]) set(row int, v T) { c.put(row, v) }

func (c *numbers[T, C]) pad(rows int) {
	c.know()
	n := len(c.values)
	if n >= rows {
		return
	}
	c.values = slices.Grow(c.values, rows-n)[:rows]
	fill(c.values[n:], c.missing)
	if c.nullable {
		c.nulls = slices.Grow(c.nulls, rows-n)[:rows]
		fill(c.nulls[n:], 1)
	}
}

func fill[T any](values []T, v T) {
	for i := range values {
		values[i] = v
	}
}

// know adds to nulls the rows that were set since: put leaves that to it.
func (c *numbers[T, C]) know() {
	if n := len(c.nulls); c.nullable && n < len(c.values) {
		c.nulls = slices.Grow(c.nulls, len(c.values)-n)[:len(c.values)]
		clear(c.nulls[n:])
	}
}

func (c *numbers[T, C]) write(b *nativeBlock, all []piece) {
	if c.nullable {
		for _, p := range all {
			if f := p.column.(*numbers[T, C]); f.empty() {
				extend(b, p.j-p.i, 1)
			} else {
				f.nulls[p.i:p.j].EncodeColumn(&b.Buffer)
			}
			b.spill()
		}
	}
	var none [64]T
	fill(none[:], c.missing)
	for _, p := range all {
		f := p.column.(*numbers[T, C])
		if !f.empty() {
			f.values[p.i:p.j].EncodeColumn(&b.Buffer)
		} else {
			for n := p.j - p.i; n > 0; n -= len(none) {
				C(none[:min(n, len(none))]).EncodeColumn(&b.Buffer)
			}
		}
		b.spill()
	}
}

// extend appends n bytes of a value.
func extend(b *nativeBlock, n int, v byte) {
	at := len(b.Buf)
	b.Buf = slices.Grow(b.Buf, n)[:at+n]
	fill(b.Buf[at:], v)
}

func (c *numbers[T, C]) empty() bool { return len(c.values) == 0 }
func (c *numbers[T, C]) reset()      { c.values, c.nulls = c.values[:0], c.nulls[:0] }
func (c *numbers[T, C]) size() int {
	return cap(c.values)*int(unsafe.Sizeof(c.missing)) + cap(c.nulls)
}

func (c *numbers[T, C]) kind() string {
	if c.nullable {
		return "Nullable(" + c.of + ")"
	}
	return c.of
}

// texts is a column of strings, kept as they are sent: each with its length in front.
type texts struct {
	rows int
	buf  []byte
}

// open begins the text of a row behind c.buf, which the caller appends to; close ends it.
func (c *texts) open(row int) (at int) {
	c.pad(row)
	c.rows++
	c.buf = append(c.buf, 0)
	return len(c.buf)
}

func (c *texts) close(at int) { c.buf = closeField(c.buf, at) }

func (c *texts) put(row int, s string) {
	c.pad(row)
	c.rows++
	c.buf = append(binary.AppendUvarint(c.buf, uint64(len(s))), s...)
}

// putHex sets a row to bytes as hexadecimal digits if there are any.
func (c *texts) putHex(row int, bytes []byte) {
	if len(bytes) > 0 {
		c.pad(row)
		c.rows++
		c.buf = appendHex(binary.AppendUvarint(c.buf, uint64(2*len(bytes))), bytes)
	}
}

func (c *texts) pad(rows int) {
	if n := rows - c.rows; n > 0 {
		c.buf = slices.Grow(c.buf, n)[:len(c.buf)+n]
		clear(c.buf[len(c.buf)-n:])
		c.rows = rows
	}
}

func (c *texts) write(b *nativeBlock, all []piece) {
	for _, p := range all {
		f := p.column.(*texts)
		if f.empty() {
			extend(b, p.j-p.i, 0)
			continue
		}
		start, end := 0, len(f.buf)
		if p.i > 0 || p.j < f.rows {
			start = f.offset(0, p.i)
			end = f.offset(start, p.j-p.i)
		}
		b.PutRaw(f.buf[start:end])
		b.spill()
	}
}

// offset is where the text stands that comes n texts behind the one at an offset.
func (c *texts) offset(at, n int) int {
	for range n {
		length, width := binary.Uvarint(c.buf[at:])
		at += width + int(length)
	}
	return at
}

func (c *texts) empty() bool  { return c.rows == 0 }
func (c *texts) reset()       { c.buf, c.rows = c.buf[:0], 0 }
func (c *texts) size() int    { return cap(c.buf) }
func (c *texts) kind() string { return "String" }

// list is a column of arrays: where each ends among the elements of all.
type list struct {
	ends proto.ColUInt64
	of   column
	n    int // elements
}

// begin begins the array of a row; next is the row of another element, which the caller sets; end ends the array.
func (c *list) begin(row int) {
	for len(c.ends) < row {
		c.ends = append(c.ends, uint64(c.n))
	}
}

func (c *list) next() (row int) {
	c.n++
	return c.n - 1
}

func (c *list) end() {
	c.ends = append(c.ends, uint64(c.n))
}

// start is the number of elements in front of a row.
func (c *list) start(row int) int {
	if row == 0 {
		return 0
	}
	return int(c.ends[row-1])
}

func (c *list) pad(rows int) {
	c.begin(rows)
	c.of.pad(c.n)
}

func (c *list) write(b *nativeBlock, all []piece) {
	elements, n := make([]piece, 0, len(all)), uint64(0)
	for _, p := range all {
		f := p.column.(*list)
		if f.empty() {
			for range p.j - p.i {
				b.PutUInt64(n)
			}
			elements = append(elements, piece{f.of, 0, 0})
			continue
		}
		first, last := f.start(p.i), f.start(p.j)
		for _, end := range f.ends[p.i:p.j] {
			b.PutUInt64(n + end - uint64(first))
		}
		b.spill()
		n += uint64(last - first)
		elements = append(elements, piece{f.of, first, last})
	}
	c.of.write(b, elements)
}

func (c *list) reset() {
	c.ends, c.n = c.ends[:0], 0
	c.of.reset()
}

func (c *list) size() int { return 8*cap(c.ends) + c.of.size() }

func (c *list) empty() bool  { return len(c.ends) == 0 }
func (c *list) kind() string { return "Array(" + c.of.kind() + ")" }

// named are columns with their names: those of a block, or the elements of a tuple.
type named []namedColumn

type namedColumn struct {
	name string
	column
}

func (c *named) add(name string, d column) { *c = append(*c, namedColumn{name, d}) }

func (c *named) text(name string) *texts {
	d := new(texts)
	c.add(name, d)
	return d
}

func (c named) pad(rows int) {
	for _, d := range c {
		if !d.empty() {
			d.pad(rows)
		}
	}
}

func (c named) empty() bool {
	for _, d := range c {
		if !d.empty() {
			return false
		}
	}
	return true
}

func (c named) reset() {
	for _, d := range c {
		d.reset()
	}
}

func (c named) size() (n int) {
	for _, d := range c {
		n += d.size()
	}
	return n
}

func (c *named) write(b *nativeBlock, all []piece) {
	part := make([]piece, len(all))
	for k, d := range *c {
		for n, p := range all {
			part[n] = piece{(*p.column.(*named))[k].column, p.i, p.j}
		}
		d.write(b, part)
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

func number[T any, C cells[T]](c *named, name, of string, nullable bool) *numbers[T, C] {
	d := &numbers[T, C]{of: of, nullable: nullable}
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
	d := &list{of: of}
	c.add(name, d)
	return d
}

func (c *named) texts(name string) (*list, *texts) {
	of := new(texts)
	return c.list(name, of), of
}
