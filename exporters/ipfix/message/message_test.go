package message

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// wanted are Broadcom's three elements in these tests.
var wanted = Wanted{{4413, 1}, {4413, 2}, {4413, 3}}

var switch1, switch2 = netip.MustParseAddrPort("192.0.2.1:9070"), netip.MustParseAddrPort("192.0.2.2:9070")

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// of is a message of domain 7 with sets, whose lengths are right.
func of(t testing.TB, sequence uint32, sets string) []byte {
	b := AppendHeader(nil, Header{Time: 1763776800, Sequence: sequence, Domain: 7})
	b = append(b, unhex(t, sets)...)
	SetLength(b)
	return b
}

// The template of the three elements, each of variable length, under id 257; and the same with lengths that do not vary and an
// element of IANA's between them, under 258.
const (
	variable = `0002 0020  0101 0003  8001 ffff 0000113d  8002 ffff 0000113d  8003 ffff 0000113d `
	fixed    = `0002 0024  0102 0004  8001 0008 0000113d  0143 0008  8002 0004 0000113d  8003 0002 0000113d `
)

// one is a data record of 257, and its values; two is one of 258 and the same.
const (
	one       = `08 2f11080000001e01  04 aabbccdd  ff 0003 010203`
	oneValues = `2f11080000001e01 aabbccdd 010203`
	two       = `2f06080000001e01 0000019a00000000 eeeeeeee 0a0b`
	twoValues = `2f06080000001e01 eeeeeeee 0a0b`
)

// reading is what a table makes of messages.
type reading struct {
	t      *testing.T
	table  *Templates
	counts Counts
	got    []string // values of records, or their fate
	lacked []Element
}

func newReading(t *testing.T, lifetime int64) *reading {
	return &reading{t: t, table: NewTemplates(wanted, lifetime)}
}

func (r *reading) message(now int64, from netip.AddrPort, m []byte) {
	r.t.Helper()
	h, ok := ReadHeader(m)
	if !ok {
		r.t.Fatalf("no message: %x", m)
	}
	r.table.Read(m, h, from, now, &r.counts, func(e []Element) { r.lacked = append(r.lacked, e...) }, func(f Fate, d *Data) {
		if f != Whole {
			r.got = append(r.got, [...]string{Other: "other", Options: "options"}[f])
			return
		}
		r.got = append(r.got, fmt.Sprintf("%x %x %x", d[0], d[1], d[2]))
	})
}

func (r *reading) want(unread map[Unread]uint64, records ...string) {
	r.t.Helper()
	if !slices.Equal(r.got, records) {
		r.t.Errorf("records %q, want %q", r.got, records)
	}
	for u, n := range r.counts.Unread {
		if n != unread[Unread(u)] {
			r.t.Errorf("%d unread for %v, want %d", n, Unread(u), unread[Unread(u)])
		}
	}
	r.got, r.counts.Unread = nil, [NumUnread]uint64{}
}

// TestRecords: templates and data records in one message and in several, lengths of one and of three bytes, padding, elements that are
// skipped, options, and templates that change, each as RFC 7011 has it on the wire.
func TestRecords(t *testing.T) {
	r := newReading(t, 1000)
	r.message(0, switch1, of(t, 0, variable+`0101 0018 `+one))
	r.want(nil, oneValues)
	r.message(1, switch1, of(t, 1, `0101 002e `+one+one+`0000`)) // padding up to a word
	r.want(nil, oneValues, oneValues)
	r.message(1, switch1, of(t, 1, `0101 002f `+one+one+`000000`)) // as long as the shortest record, but zeros
	r.want(nil, oneValues, oneValues)
	long := strings.Repeat("ab", 300)
	r.message(1, switch1, of(t, 3, `0101 013d 08 2f11080000001e01 00 ff 012c `+long))
	r.want(nil, "2f11080000001e01  "+long)
	r.message(2, switch1, of(t, 4, fixed+`0102 0030 `+two+two+`0101 0018 `+one))
	r.want(nil, twoValues, twoValues, oneValues)

	// Options: one scope field, a field; their records are of no packet. A template of others is not whole, and its records are skipped.
	r.message(3, switch1, of(t, 7, `0003 0012 0103 0002 0001 0095 0004 0029 0008  0103 001c 00000007 0000000000000001 00000007 0000000000000002`))
	r.want(nil, "options", "options")
	r.message(3, switch1, of(t, 9, `0002 0010 0104 0002 0008 0004 8063 ffff`)) // one set whose length leaves a word
	r.want(map[Unread]uint64{BadTemplate: 1})
	r.message(3, switch1, of(t, 9, `0002 0014 0104 0002 0008 0004 8063 ffff 000010ff 0104 000b 0a000001 02 abcd`))
	r.want(nil, "other")
	if want := []Element{{0, 8}, {4351, 99}}; !slices.Equal(r.lacked, want) {
		t.Errorf("a template lacks elements: %v", r.lacked)
	}

	// Under its id another template, in the middle of a message: what follows is read by it.
	r.message(4, switch1, of(t, 10, `0101 0018 `+one+`0002 0020 0101 0003 8003 0002 0000113d 8001 0008 0000113d 8002 0004 0000113d `+`0101 0012 0a0b 2f06080000001e01 eeeeeeee`))
	r.want(nil, oneValues, twoValues)
	if r.counts.Templates != 5 || r.table.Len() != 4 {
		t.Errorf("%d templates told, %d known", r.counts.Templates, r.table.Len())
	}
}

// TestTemplatesAreOfASession: a template is that of its source address, port and domain, and no other's.
func TestTemplatesAreOfASession(t *testing.T) {
	r := newReading(t, 1000)
	r.message(0, switch1, of(t, 0, variable))
	data := of(t, 0, `0101 0018 `+one)
	r.message(1, switch2, data)
	r.message(1, netip.AddrPortFrom(switch1.Addr(), 9071), data)
	other := bytes.Clone(data)
	other[15] = 8
	r.message(1, switch1, other)
	r.want(map[Unread]uint64{NoTemplate: 3})
	r.message(1, switch1, data)
	r.want(nil, oneValues)
}

// TestTemplatesEnd: one that is not told again goes after its lifetime; a withdrawal over UDP changes nothing; one that cannot be takes
// the place of the one with its id.
func TestTemplatesEnd(t *testing.T) {
	r := newReading(t, 1000)
	data := of(t, 0, `0101 0018 `+one)
	r.message(0, switch1, of(t, 0, variable))
	r.message(900, switch1, of(t, 0, variable))
	r.message(1900, switch1, data)
	r.want(nil, oneValues)
	r.message(1901, switch1, data)
	r.want(map[Unread]uint64{NoTemplate: 1})

	r.message(2000, switch1, of(t, 0, variable+`0002 0008 0101 0000 0002 0008 0002 0000 0003 0008 0003 0000`))
	r.message(2000, switch1, data)
	r.want(map[Unread]uint64{Withdrawal: 3}, oneValues)

	for _, bad := range []string{
		`0002 0010 0101 0003 8001 ffff 0000113d`, // fewer fields than it says
		`0002 000c 0101 0001 8001 ffff`,          // without the enterprise number
		`0002 000c 0101 0001 0008 0000`,          // records without a byte
		`0002 0028 0101 0004 8001 ffff 0000113d 8002 ffff 0000113d 8003 ffff 0000113d 8001 ffff 0000113d`, // an element twice
		`0003 000e 0101 0001 0000 0095 0004`, // options without a scope
		`0003 000e 0101 0001 0002 0095 0004`, // more scopes than fields
		`0003 0008 0101 0001`,
	} {
		r.message(3000, switch1, of(t, 0, variable))
		r.message(3000, switch1, of(t, 0, bad))
		r.message(3000, switch1, data)
		r.want(map[Unread]uint64{BadTemplate: 1, NoTemplate: 1})
	}
	r.message(3000, switch1, of(t, 0, `0002 000c 00ff 0001 0008 0004`)) // an id that no data has
	r.want(map[Unread]uint64{BadTemplate: 1})
}

// TestTemplatesAreKept: what a table keeps, another reads data by, as long as the first one would; with other elements, as these say.
func TestTemplatesAreKept(t *testing.T) {
	r := newReading(t, 1000)
	r.message(100, switch1, of(t, 0, variable+`0003 0012 0103 0002 0001 0095 0004 0029 0008`))
	kept := r.table.Kept(600, 1_000_600)
	data := of(t, 0, `0101 0018 `+one+`0103 0010 00000007 0000000000000001`)
	for _, c := range []struct {
		wanted    Wanted
		now, wall int64
		unread    map[Unread]uint64
		got       []string
	}{
		{wanted, 5, 1_001_100, nil, []string{oneValues, "options"}},
		{wanted, 5, 1_000_000, nil, []string{oneValues, "options"}}, // the clock was set back
		{wanted, 5, 1_001_101, map[Unread]uint64{NoTemplate: 2}, nil},
		{Wanted{{4413, 1}, {4413, 2}, {4413, 4}}, 5, 1_001_000, nil, []string{"other", "options"}},
	} {
		again := newReading(t, 1000)
		again.table = NewTemplates(c.wanted, 1000)
		again.table.Keep(kept, c.now, c.wall)
		again.message(c.now, switch1, data)
		again.want(c.unread, c.got...)
	}
}

// TestBadSets: what goes beyond its set is not read, and what follows is.
func TestBadSets(t *testing.T) {
	r := newReading(t, 1000)
	r.message(0, switch1, of(t, 0, variable))
	for _, bad := range []string{
		`0101 000b 08 2f1108000000`,     // a value
		`0101 000c 08 2f110800000000`,   // by one byte
		`0101 0008 ff 00ff 01`,          // a value with a long length
		`0101 0007 00 ff 01`,            // the long length
		`0101 000d 08 2f11080000001e01`, // the second element is not there
		`0005 0008 00000000`,            // an id that no set has
		`00ff 0004`,
	} {
		r.message(1, switch1, of(t, 0, bad+`0101 0018 `+one))
		r.want(map[Unread]uint64{BadSet: 1}, oneValues)
	}
	for _, none := range []string{``, `000a`, `0009 0010 00000000 00000000 00000007`, `000a 0011 00000000 00000000 00000007`,
		`000a 0014 00000000 00000000 00000007 0101 0003`, `000a 0014 00000000 00000000 00000007 0101 0005`, `000a 0012 00000000 00000000 00000007 0101`} {
		if _, ok := ReadHeader(unhex(t, none)); ok {
			t.Errorf("%s is a message", none)
		}
	}
}

// TestTemplatesAreBounded: one address has an eighth of the room, all have the room, and what is not told again makes some.
func TestTemplatesAreBounded(t *testing.T) {
	r := newReading(t, 1000)
	tell := func(now int64, address byte, domain uint16) {
		m := of(t, 0, variable)
		m[14], m[15] = byte(domain>>8), byte(domain)
		r.message(now, netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, address}), 1), m)
	}
	for d := range uint16(600) {
		tell(0, 1, d)
	}
	r.want(map[Unread]uint64{NoRoom: 600 - shareOfOne})
	for a := range byte(8) {
		for d := range uint16(shareOfOne) {
			tell(500, 1+a, d) // the first address tells its own again
		}
	}
	tell(501, 100, 0)
	r.want(map[Unread]uint64{NoRoom: 1})
	if r.table.Len() != MaxTemplates {
		t.Errorf("%d templates", r.table.Len())
	}
	tell(2e9, 100, 0)
	r.want(nil)
	if r.table.Len() != 1 || len(r.table.owned) != 1 {
		t.Errorf("%d templates of %v", r.table.Len(), r.table.owned)
	}
}

// TestAppend: what Append writes, Read and Records read.
func TestAppend(t *testing.T) {
	long := Data{[]byte("12345678"), bytes.Repeat([]byte{1}, 254), bytes.Repeat([]byte{2}, 1000)}
	m := Append([]byte("in front"), Header{1, 2, 7}, &wanted, Data{[]byte("12345678"), nil, []byte{9}}, long)[8:]
	if !bytes.HasPrefix(m, unhex(t, `000a 0533 00000001 00000002 00000007 0002 0020 0100 0003 8001 ffff 0000113d 8002 ffff 0000113d 8003 ffff 0000113d 0100 0503 08 3132`)) {
		t.Errorf("message %x", m[:70])
	}
	r := newReading(t, 1000)
	r.message(0, switch1, m)
	want := []string{"3132333435363738  09", fmt.Sprintf("%x %x %x", long[0], long[1], long[2])}
	r.want(nil, want...)
	var got []string
	if !Records(m, func(d *Data) { got = append(got, fmt.Sprintf("%x %x %x", d[0], d[1], d[2])) }) || !slices.Equal(got, want) {
		t.Errorf("records %q", got)
	}
	m = Append(nil, Header{}, &Wanted{{0, 1}, {4413, 2}, {0, 3}}, long)
	if got = nil; !Records(m, func(d *Data) { got = append(got, "") }) || len(got) != 1 {
		t.Error("elements without an enterprise number are not read")
	}
}

// FuzzIPFIX: no message makes the table panic, have more than its bounds, or lose count of what it has read.
func FuzzIPFIX(f *testing.F) {
	f.Add(of(f, 0, variable+`0101 0018 `+one), of(f, 1, fixed+`0102 0030 `+two+two+`0101 0018 `+one))
	f.Add(of(f, 0, `0003 0012 0103 0002 0001 0095 0004 0029 0008 0103 0010 00000007 0000000000000001`), of(f, 0, `0002 0008 0101 0000`))
	f.Add(of(f, 0, `0002 000c 0101 0001 0008 0001 0101 0008 01020304`), of(f, 4, `0005 0004`))
	table, now := NewTemplates(wanted, 100), int64(0)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for i, m := range [][]byte{first, second} {
			h, ok := ReadHeader(m)
			if !ok {
				continue
			}
			now++
			var c Counts
			calls, bytesOf := [NumFates]uint64{}, 0
			from := switch1
			if i > 0 && len(m)%2 == 0 {
				from = switch2
			}
			table.Read(m, h, from, now, &c, func(e []Element) {
				if len(e) == 0 || len(e)*4 > len(m) {
					t.Errorf("%d elements of %d bytes", len(e), len(m))
				}
			}, func(fate Fate, d *Data) {
				calls[fate]++
				if n := len(d[0]) + len(d[1]) + len(d[2]); n > 0 {
					bytesOf += n
					if fate != Whole {
						t.Errorf("fate %d has %d bytes", fate, n)
					}
				}
				if fate == Whole {
					own := Append(nil, h, &wanted, Data{d[0][:min(len(d[0]), 100)], d[1][:min(len(d[1]), 100)], d[2][:min(len(d[2]), 1000)]})
					if !Records(own, func(*Data) {}) {
						t.Errorf("not read again: %x", own)
					}
				}
			})
			if calls != c.Records {
				t.Errorf("%d records, %d counted", calls, c.Records)
			}
			if n := calls[Whole] + calls[Other] + calls[Options]; n > uint64(len(m)) || bytesOf > len(m) {
				t.Errorf("%d records with %d bytes in %d", n, bytesOf, len(m))
			}
			sets := uint64(len(m)-HeaderLen) / SetHeaderLen
			if c.Templates+c.Unread[BadTemplate]+c.Unread[NoRoom]+c.Unread[Withdrawal] > sets || c.Unread[BadSet]+c.Unread[NoTemplate] > sets {
				t.Errorf("%+v in %d bytes", c, len(m))
			}
			owned := 0
			for _, n := range table.owned {
				owned += n
			}
			if owned != table.Len() || table.Len() > MaxTemplates || table.owned[from.Addr()] > shareOfOne {
				t.Errorf("%d templates, %v", table.Len(), table.owned)
			}
			Records(m, func(*Data) {})
		}
	})
}
