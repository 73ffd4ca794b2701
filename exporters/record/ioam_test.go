package record

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
	"intsink/engine/wire/report/reporttest"
)

// linuxHex is an IPv6 packet whose trace two routers of Linux filled.
var linuxHex = `60000000 005d 00 3e db010000000000000000000000000001 db030000000000000000000000000002
	11090100 314a0000 007b2008 f0000000` + strings.Repeat("00", 32) + `
	3e000066 00150016 6b0a9fb8 000c60e4 3f000065 000b000c 6b0a9fb8 000c60d7 0fa01389 000d0000 68656c6c6f`

// inReport is a report packet with one report of an IPv6 packet.
func inReport(packet []byte) string {
	n := len(packet)
	return groupHex + `05` + hex.EncodeToString([]byte{byte((n + 3) / 4)}) + `0020` + hex.EncodeToString(packet) + strings.Repeat("00", -n&3)
}

// TestIOAM: nodes are hops, the oldest first, with their times; a segment takes the time between two arrivals.
func TestIOAM(t *testing.T) {
	packet := reporttest.Hex(t, linuxHex)
	want := `"source":"db01::1","destination":"db03::2","source_port":4000,"destination_port":5001,"protocol":17,"dscp":0`
	hops := `"hops":[{"node_id":101,"ingress":11,"egress":12,"ingress_time":"2026-11-28T09:32:40.811223000Z","egress_time":"2026-11-28T09:32:40.811223000Z"},` +
		`{"node_id":102,"ingress":21,"egress":22,"ingress_time":"2026-11-28T09:32:40.811236000Z","egress_time":"2026-11-28T09:32:40.811236000Z"}]`
	got, err := lines(t, NewDecoder(Options{}), reporttest.Hex(t, inReport(packet)))
	if err != nil || !strings.Contains(got[0], want) || !strings.Contains(got[0], hops) || !strings.Contains(got[0], `"hop_count":2`) || strings.Contains(got[0], "malformed") {
		t.Errorf("%v\n%s", err, got)
	}
	if !strings.Contains(got[0], `13000`) || !strings.Contains(got[0], `"path"`) {
		t.Errorf("no segment, or no path: %s", got)
	}
	foreign := NewDecoder(Options{INT: []inthdr.Config{{Formats: inthdr.Formats{IOAM: &ioam.Config{Namespaces: []uint16{7}}}}}})
	if got, err = lines(t, foreign, reporttest.Hex(t, inReport(packet))); err != nil || strings.Contains(got[0], "hop") || !strings.Contains(got[0], want) {
		t.Errorf("of another namespace: %v\n%s", err, got)
	}
	packet[40+4+4+2] ^= 8 // the node length
	if got, err = lines(t, NewDecoder(Options{}), reporttest.Hex(t, inReport(packet))); err != nil || !strings.Contains(got[0], `"ioam_length"`) || !strings.Contains(got[0], want) {
		t.Errorf("another node length: %v\n%s", err, got)
	}
}

// TestIOAMCut: of a packet that is cut after n bytes, the record has hops only if the whole trace is there, ports only if they are.
func TestIOAMCut(t *testing.T) {
	packet, d := reporttest.Hex(t, linuxHex), NewDecoder(Options{})
	for n := range packet {
		if n++; n%4 != 0 {
			continue
		}
		count, err := d.Records(reporttest.Hex(t, inReport(packet[:n])), &testOrigin, func(r *Record) {
			if whole := n >= 40+80; len(r.Hops) != 0 != whole || whole && len(r.Hops) != 2 || r.Has(KnownPath) != whole || r.Has(KnownPorts) != (n >= 124) {
				t.Errorf("%d bytes: %d hops, known %b", n, len(r.Hops), r.Known)
			}
		})
		if count != 1 || err != nil {
			t.Errorf("%d bytes: %d records, %v", n, count, err)
		}
	}
}

// TestIOAMPrivate: data of the namespace and snapshots stand with the node that wrote them, where not all of it is unknown.
func TestIOAMPrivate(t *testing.T) {
	const head = `60000000 0049 11 3e db010000000000000000000000000001 db030000000000000000000000000002`
	for nodes, want := range map[string][2]string{ // the newest first; hop limit and node, data of 4 bytes and of 8, snapshot
		`3e000066 01020304 05060708090a0b0c 01abcdef 0d0e0f10  3f000065 ffffffff ffffffffffffffff 00ffffff`: {"", "0102030405060708090a0b0c01abcdef0d0e0f10"},
		`3e000066 ffffffff ffffffffffffffff 01abcdef 0d0e0f10  3f000065 00000007 ffffffffffffffff 00ffffff`: {"00000007ffffffffffffffff00ffffff", "ffffffffffffffffffffffff01abcdef0d0e0f10"},
	} {
		trace := reporttest.Hex(t, `007b 2000 842002 00`+nodes)
		binary.BigEndian.PutUint16(trace[2:], 4<<11) // words of a node, without its snapshot
		option := append([]byte{0x31, byte(len(trace) + 2), 0, 0}, trace...)
		header := append([]byte{17, byte((4 + len(option)) / 8), 1, 0}, option...)
		header = append(header, 1, 2, 0, 0) // PadN
		packet := append(reporttest.Hex(t, head), header...)
		packet[6] = 0
		packet = append(packet, reporttest.Hex(t, `0fa01389 000d0000 68656c6c6f`)...)
		binary.BigEndian.PutUint16(packet[4:], uint16(len(packet)-40))
		got, err := lines(t, NewDecoder(Options{}), reporttest.Hex(t, inReport(packet)))
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		for n, node := range []string{`{"node_id":101`, `{"node_id":102`} {
			if want[n] != "" {
				node += `,"ds_metadata":"` + want[n] + `"`
			}
			if !strings.Contains(got[0], node+"}") {
				t.Errorf("%s: no %s} in\n%s", nodes, node, got[0])
			}
		}
	}
}

// TestIOAMTunnel: the flow is what is inside of a tunnel that ends at the sink, however much of it a report shows.
func TestIOAMTunnel(t *testing.T) {
	const trace = `db010000000000000000000000000001 db030000000000000000000000000002 04050100 312a0000 007b2000 f0000000
		3e000066 00150016 6b0a9fb8 000c60e4 3f000065 000b000c 6b0a9fb8 000c60d7`
	packet := reporttest.Hex(t, `60000000 0050 00 3e`+trace+`45000020 0001 0000 40 11 66c8 0a000001 0a000002 0fa01389 000c0000 68656c6c`)
	ends := ioam.Config{Namespaces: []uint16{123}, Ends: [][16]byte{[16]byte(packet[24:40])}}
	d := NewDecoder(Options{INT: []inthdr.Config{{Formats: inthdr.Formats{IOAM: &ends}}}})
	got, err := lines(t, d, reporttest.Hex(t, inReport(packet)))
	const want, outer = `"source":"10.0.0.1","destination":"10.0.0.2","source_port":4000,"destination_port":5001,"protocol":17,"dscp":0`, `"source":"db01::1","destination":"db03::2"`
	if err != nil || !strings.Contains(got[0], want) || !strings.Contains(got[0], outer) || !strings.Contains(got[0], `"outer"`) || strings.Contains(got[0], `"inner"`) || !strings.Contains(got[0], `"hop_count":2`) {
		t.Errorf("%v\n%s", err, got)
	}
	stays := NewDecoder(Options{INT: []inthdr.Config{{Formats: inthdr.Formats{IOAM: &ioam.Config{Namespaces: []uint16{123}}}}}})
	if got, err = lines(t, stays, reporttest.Hex(t, inReport(packet))); err != nil || !strings.Contains(got[0], `"inner"`) || strings.Contains(got[0], `"outer"`) {
		t.Errorf("of a tunnel that stays: %v\n%s", err, got)
	}
	for n := 40; n < len(packet); n += 4 {
		count, err := d.Records(reporttest.Hex(t, inReport(packet[:n])), &testOrigin, func(r *Record) {
			if whole := n >= 40+48; len(r.Hops) == 2 != whole || r.Has(KnownPorts) != (n >= 40+48+24) {
				t.Errorf("%d bytes: %d hops, known %b", n, len(r.Hops), r.Known)
			}
		})
		if count != 1 || err != nil {
			t.Errorf("%d bytes: %d records, %v", n, count, err)
		}
	}
}
