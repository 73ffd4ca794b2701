// Packet: one report packet under construction: Open, Append, AppendCut, Full; seal.go closes it.

package report

// maxCoalesced is the longest Report Length that may be followed by another
// report; 0xFF says "at least 255 words, to the end of the UDP payload".
const (
	maxCoalesced = 0xfe
	toTheEnd     = 0xff
)

// Packet is one report packet under construction, in a buffer that it borrows
// between Open and Seal. The zero value is closed.
type Packet struct {
	buf     []byte // the whole room; buf[:n] is written
	n       int
	reports int
	format  Format
	last    bool // a report that nothing may follow is in

	identified bool // an Identity is the first report
}

// Open starts a 2.0 packet in buf, whose length is the room for the UDP payload.
func (p *Packet) Open(buf []byte) { p.OpenAs(Format20, buf) }

// OpenAs is Open for any format.
func (p *Packet) OpenAs(f Format, buf []byte) {
	*p = Packet{buf: buf, n: startLen(f), format: f}
}

// IsOpen reports whether the packet is between Open and Seal.
func (p *Packet) IsOpen() bool { return p.buf != nil }

// Len returns the length of the payload so far.
func (p *Packet) Len() int { return p.n }

// Since returns the bytes that were written to the open packet since its payload had n bytes.
func (p *Packet) Since(n int) []byte { return p.buf[n:p.n] }

// Reports returns how many individual reports are in.
func (p *Packet) Reports() int { return p.reports }

// Full reports whether nothing more may follow: the last report's length is 0xFF, which runs to the
// end of the payload, or the format has one report a packet.
func (p *Packet) Full() bool { return p.last }

// Append adds r, or returns false and changes nothing where it does not fit, or
// where its metadata is not whole words of at most 255. A report of 255 words or
// more is the last: the packet is then Full, as it is after the one report of
// Format10, Format2018 and Format05. These cut the inner contents to the room that there is,
// and take None and packets only.
func (p *Packet) Append(r *Individual) bool {
	if p.format != Format20 {
		return p.appendOld(r)
	}
	words := r.words()
	size := firstWordLen + words*4
	if p.last || p.n+size > len(p.buf) || !r.sound() {
		return false
	}
	length := uint8(toTheEnd)
	if words <= maxCoalesced {
		length = uint8(words)
	}
	r.put(p.buf[p.n:p.n+size], length)
	p.last = length == toTheEnd
	p.n += size
	p.reports++
	return true
}

// AppendCut is Append, but that the packet in r's inner contents, or in the last TLV
// of them, is cut to the room that there is, to whole words.
func (p *Packet) AppendCut(r *Individual) bool {
	keep, at := p.innerRoom(r), 0
	switch {
	case keep <= 0 || keep >= len(r.Inner) || r.InType < TLV || r.InType == DSExtension || r.InType > IPv6:
		return p.Append(r)
	case r.InType == TLV:
		at = lastTLV(r.Inner)
		if t := TLVType(r.Inner[at] >> 4); at+tlvHeaderLen > keep || t < TLVEthernet || t > TLVIPv6 {
			return p.Append(r)
		}
	}
	c := *r
	c.Inner = r.Inner[:keep]
	if !p.Append(&c) {
		return false
	}
	if r.InType == TLV {
		p.buf[p.n-keep+at+1] = uint8((keep - at - tlvHeaderLen) / 4)
	}
	return true
}

// innerRoom is how many bytes of r's inner contents there is room for, in whole words.
func (p *Packet) innerRoom(r *Individual) int {
	return (len(p.buf) - p.n - (firstWordLen + r.words()*4 - (len(r.inner())+3)&^3)) &^ 3
}

// CutsINT reports whether r, appended by AppendCut, shows less than all INT of its packet.
func (p *Packet) CutsINT(r *Individual) bool {
	n := r.packetLen()
	if p.format == Format20 {
		n -= max(len(r.Inner)-p.innerRoom(r), 0)
	}
	return n < r.INTEnd
}

// Growth is by how many bytes Append of r would make the payload longer; 0: it
// would not take r.
func (p *Packet) Growth(r *Individual) int {
	if p.last || p.buf == nil {
		return 0
	}
	return r.size(p.format, len(p.buf)-p.n)
}

// Alone returns the payload length of a packet of format f with room for so many bytes that carries
// nothing but r; 0: r does not fit.
func Alone(f Format, r *Individual, room int) int {
	start := startLen(f)
	if n := r.size(f, room-start); n > 0 {
		return start + n
	}
	return 0
}

// startLen is what stands in a packet before its first report.
func startLen(f Format) int {
	switch f {
	case Format10, Format2018:
		return sealed10
	case Format05:
		return sealed05
	}
	return GroupHeaderLen
}

// size returns the length of r in a packet of format f that has room for so many bytes; 0: it does
// not fit.
func (r *Individual) size(f Format, room int) int {
	if f != Format20 {
		return r.oldSize(f, room)
	}
	if n := firstWordLen + r.words()*4; n <= room && r.sound() {
		return n
	}
	return 0
}
