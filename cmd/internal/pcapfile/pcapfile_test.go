package pcapfile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// record is a record of a pcap file: so many bytes there, so many said to be on the wire.
type record struct{ there, wire int }

// classic is a pcap file in the given byte order.
func classic(order binary.AppendByteOrder, magic uint32, link uint32, records ...record) []byte {
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(b, 2)
	b = order.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = order.AppendUint32(b, 65535)
	b = order.AppendUint32(b, link)
	for i, r := range records {
		for _, v := range []int{1700000000 + i, 5, r.there, r.wire} {
			b = order.AppendUint32(b, uint32(v))
		}
		b = append(b, bytes.Repeat([]byte{byte(i + 1)}, r.there)...)
	}
	return b
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

func pcapng(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := pcapgo.NewNgWriter(&out, layers.LinkTypeEthernet)
	if err != nil {
		t.Fatal(err)
	}
	w.WritePacket(gopacket.CaptureInfo{Timestamp: time.Unix(1700000000, 5000), CaptureLength: 4, Length: 4}, []byte{1, 1, 1, 1})
	w.Flush()
	return out.Bytes()
}

func write(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	little, big := binary.LittleEndian, binary.BigEndian
	one := record{there: 4, wire: 4}
	for _, c := range []struct {
		name    string
		b       []byte
		packets int
		at      int64 // of the first one, behind 1700000000 s
		warning string
	}{
		{"microseconds", classic(little, magicMicroseconds, 1, one, one), 2, 5000, ""},
		{"nanoseconds, big-endian", classic(big, magicNanoseconds, 1, one), 1, 5, ""},
		{"frame check sequence in the link type", classic(little, magicNanoseconds, 1|4<<28|1<<26, one), 1, 5, ""},
		{"more there than on the wire", classic(little, magicNanoseconds, 1, record{there: 34, wire: 32}, one), 2, 5, ""},
		{"less there than on the wire", classic(little, magicNanoseconds, 1, record{there: 4, wire: 32}), 1, 5, "1 of 1 packets were captured only in part"},
		{"no packets", classic(little, magicNanoseconds, 1), 0, 0, ""},
		{"a packet of 300 kB", classic(little, magicNanoseconds, 1, record{there: 300_000, wire: 300_000}), 1, 5, ""},
		{"cut in a packet of 300 kB", classic(little, magicNanoseconds, 1, one, record{there: 300_000, wire: 300_000})[:300_000], 1, 5, "after packet 1: the last "},
		{"cut in a packet", classic(little, magicNanoseconds, 1, one, one)[:24+20+19], 1, 5, "after packet 1: the last 19 bytes of the file"},
		{"gzip", zipped(classic(little, magicNanoseconds, 1, one, one)), 2, 5, ""},
		{"gzip cut in its checksum", zipped(classic(little, magicNanoseconds, 1, one, one))[:60], 2, 5, "after packet 2: the rest of the file"},
		{"pcapng", pcapng(t), 1, 5000, ""},
		{"pcapng, gzip", zipped(pcapng(t)), 1, 5000, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Open(write(t, "in", c.b))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			n, first := 0, int64(0)
			for {
				p, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if n++; n == 1 {
					first = p.At - 1700000000e9
				}
				if p.Link != layers.LinkTypeEthernet || len(p.Data) < 4 || p.Data[3] != byte(n) {
					t.Errorf("packet %d: %+v", n, p)
				}
			}
			var warning bytes.Buffer
			r.Warn(&warning)
			if n != c.packets || first != c.at || !strings.Contains(warning.String(), c.warning) || (c.warning == "") != (warning.Len() == 0) {
				t.Errorf("%d packets, the first at %d, %q; want %d, %d, %q", n, first, warning.String(), c.packets, c.at, c.warning)
			}
		})
	}
}

func TestNotCaptures(t *testing.T) {
	for _, c := range []struct {
		name, want string
		b          []byte
	}{
		{"empty", "it is empty", nil},
		{"text", "Unknown magic 68656c6c", []byte("hello, this is no capture at all")},
		{"cut in the header", "unexpected EOF", classic(binary.LittleEndian, magicNanoseconds, 1)[:23]},
		{"another version", "version 3 of the format, need 2", append([]byte{0x4d, 0x3c, 0xb2, 0xa1, 3}, make([]byte, 19)...)},
		{"gzip of something else", "Unknown magic", zipped([]byte("hello, this is no capture at all"))},
		{"no gzip", "gzip", []byte{0x1f, 0x8b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Open(write(t, "in", c.b)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "not a pcap or pcapng capture") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	b := classic(binary.LittleEndian, magicNanoseconds, 1, record{there: 4, wire: 4})
	binary.LittleEndian.PutUint32(b[32:], maxRecord+1)
	r, err := Open(write(t, "in", b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(); err == nil || !strings.Contains(err.Error(), "the file is damaged") {
		t.Errorf("a record of 64 MiB: %v", err)
	}
}

// TestPlain: a copy is made where DPDK's driver cannot read the original, and goes away. It has no name that could
// outlive the process.
func TestPlain(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	b := classic(binary.BigEndian, magicMicroseconds, 1, record{there: 4, wire: 4}, record{there: 6, wire: 4}, record{there: 4, wire: 9})
	for _, c := range []struct {
		name string
		b    []byte
		copy bool
	}{{"in.pcap", b, false}, {"in.pcap.gz", zipped(b), true}, {"a,b=c.pcap", b, true}} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.name, c.b)
			p, err := MakePlain(path, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if files, err := filepath.Glob(filepath.Join(temporary, "intsink-*")); err != nil || len(files) > 0 {
				t.Errorf("the folder of temporary files has %v, %v", files, err)
			}
			if (p.Path != path) != c.copy || strings.ContainsAny(filepath.Base(p.Path), ",=") {
				t.Errorf("%s is read from %s", path, p.Path)
			}
			r, err := p.Open()
			if err != nil {
				t.Fatal(err)
			}
			var lengths []int
			for {
				x, err := r.Next()
				if err != nil {
					break
				}
				lengths = append(lengths, len(x.Data))
				if want := int64(1700000000+len(lengths)-1)*1e9 + 5000; x.At != want {
					t.Errorf("packet %d at %d, want %d", len(lengths), x.At, want)
				}
			}
			var warning bytes.Buffer
			p.Warn(&warning)
			r.Warn(&warning)
			if len(lengths) != 3 || lengths[1] != 6 || r.Path != path || strings.Count(warning.String(), path+": 1 of 3 packets were captured only in part") != 1 {
				t.Errorf("%v, %s, %q", lengths, r.Path, warning.String())
			}
			r.Close()
			p.Close()
			if _, err := p.Open(); (err != nil) != c.copy {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
	for name, b := range map[string][]byte{"text": []byte("hello, this is no capture at all"), "raw IP": classic(binary.LittleEndian, magicNanoseconds, 101)} {
		t.Run(name, func(t *testing.T) {
			if _, err := MakePlain(write(t, "in", b), io.Discard); err == nil {
				t.Errorf("%s was taken", name)
			}
		})
	}
}

// TestWhatIsCopied: a copy is made of what libpcap may refuse or cut, and of nothing else.
func TestWhatIsCopied(t *testing.T) {
	snapped := func(n uint32) []byte {
		b := classic(binary.LittleEndian, magicNanoseconds, 1, record{there: 82, wire: 82})
		binary.LittleEndian.PutUint32(b[16:], n)
		return b
	}
	for _, c := range []struct {
		name string
		b    []byte
		copy bool
	}{
		{"no snap length", snapped(0), false},
		{"snap length of the longest frame", snapped(65535), false},
		{"snap length of tcpdump", snapped(262144), false},
		{"a longer one", snapped(1<<32 - 1), false},
		{"a snap length that a packet exceeds", snapped(64), true},
		{"a snap length that one could exceed", snapped(65534), false},
		{"a snap length that a packet reaches", snapped(82), false},
		{"pcapng", pcapng(t), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "in", c.b)
			p, err := MakePlain(path, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			r, err := p.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			x, err := r.Next()
			if (p.Path != path) != c.copy || err != nil || len(x.Data) != 4 && len(x.Data) != 82 || c.copy && r.snap != maxLibpcap {
				t.Errorf("%s is read from %s with snap length %d: %d bytes, %v", path, p.Path, r.snap, len(x.Data), err)
			}
		})
	}
}

// TestStdin: - is standard input, which stays open.
func TestStdin(t *testing.T) {
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	var err error
	if os.Stdin, err = os.Open(write(t, "in", classic(binary.LittleEndian, magicNanoseconds, 1, record{there: 4, wire: 4}))); err != nil {
		t.Fatal(err)
	}
	p, err := MakePlain(Stdin, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	if x, err := r.Next(); err != nil || len(x.Data) != 4 || r.Path != "standard input" {
		t.Errorf("%+v, %v of %s", x, err, r.Path)
	}
	r.Close()
	p.Close()
	if err := os.Stdin.Close(); err != nil {
		t.Errorf("standard input was closed: %v", err)
	}
}
