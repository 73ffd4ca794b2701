package record

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"intsink/engine/wire/ifa"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report/reporttest"
	"intsink/exporters/ipfix/message"
)

var terminatorWanted = message.Wanted{{Enterprise: 4413, ID: 1}, {Enterprise: 4413, ID: 2}, {Enterprise: 4413, ID: 3}}

// terminated are the records of a message of domain 234 with data records, without time and place.
func terminatedLines(t testing.TB, d *Decoder, data ...message.Data) (all []string, err error) {
	t.Helper()
	m := message.Append(nil, message.Header{Time: 1763776801, Sequence: 5, Domain: 234}, &terminatorWanted, data...)
	n, err := d.Message(m, &testOrigin, func(r *Record) { all = append(all, string(AppendJSON(nil, r))) })
	if n != len(all) {
		t.Errorf("%d records were yielded, Message says %d", len(all), n)
	}
	return all, err
}

// takenApart is what a terminator reports of a frame with IFA: headers, stack, and the frame without both.
func takenApart(t testing.TB, frame []byte) message.Data {
	t.Helper()
	var l packet.Layers
	var h ifa.Header
	if packet.Parse(frame, len(frame), &l) != packet.OK || ifa.Read(frame, &l, &h) != ifa.OK {
		t.Fatalf("no IFA in %x", frame)
	}
	headers := slices.Concat(frame[h.At:h.At+4], frame[h.Second:h.Stack])
	if h.Tail {
		headers = slices.Concat(frame[h.At:h.At+4], frame[h.Stack+h.Bytes:h.End])
	}
	without := slices.Concat(frame[:h.At], frame[h.L4:h.Second], frame[h.End:])
	at := int(l.L3)
	if without[at]>>4 == 4 {
		without[at+9] = h.Next
		binary.BigEndian.PutUint16(without[at+2:], binary.BigEndian.Uint16(without[at+2:])-h.Gone())
	} else {
		without[at+6] = h.Next
		binary.BigEndian.PutUint16(without[at+4:], binary.BigEndian.Uint16(without[at+4:])-h.Gone())
	}
	return message.Data{headers, frame[h.Stack : h.Stack+h.Bytes], without}
}

// values returns the fields of a record without those that a report and a message of IPFIX must differ in: exporter, stream, sequence.
func values(t testing.TB, line string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(v, func(k string, _ any) bool {
		return slices.Contains([]string{"id", "version", "node_id", "hw_id", "sequence", "index", "rep_type", "in_type", "intermediate", "dropped", "congested", "tracked"}, k)
	})
	return v
}

// TestTerminatedAsReported: what a terminator reports of a packet becomes the record that a report of the packet becomes, over IPv4 and
// IPv6, TCP, UDP and VXLAN, with tags, whole and cut, from Ethernet and from IP on, with the header of IP restored and as it came.
func TestTerminatedAsReported(t *testing.T) {
	hops := []intgen.Hop{{NodeID: 2, Ingress: 5, Egress: 6, LatencyNs: 2000, QueueID: 3, IngressTimestamp: 1763776801 % (1 << 20) * 1e9}, {NodeID: 1, LatencyNs: 1000}}
	flow := func(v6, tcp bool) []byte { return intgen.NthFlow(1, v6, tcp).Frame(200, 1) }
	tagged := slices.Insert(flow(false, false), 12, 0x81, 0, 0, 7, 0x88, 0xa8, 0, 8)
	vxlan := reporttest.Hex(t, etherHex+udp4(t, 4789, `08000000 00000700`+etherHex+udp4(t, 53, `0000 0000`)))
	for name, original := range map[string][]byte{"udp": flow(false, false), "tcp": flow(false, true), "udp6": flow(true, false), "tcp6": flow(true, true), "tags": tagged, "vxlan": vxlan} {
		s := intgen.Source{Marking: intgen.ByIFA}
		frame, err := s.Insert(original, hops)
		if err != nil {
			t.Fatal(err)
		}
		d := NewDecoder(Options{})
		var reported string
		if _, err := d.Records(reporttest.Hex(t, ethernet(t, frame)), &testOrigin, func(r *Record) { reported = string(AppendJSON(nil, r)) }); err != nil {
			t.Fatal(err)
		}
		want := values(t, reported)
		if want["int_type"] != "ifa" || want["hop_count"] != 2. || want["flow"] == nil {
			t.Fatalf("%s: %s", name, reported)
		}
		data := takenApart(t, frame)
		asItCame := data
		asItCame[IFAPacket] = slices.Clone(data[IFAPacket])
		var l packet.Layers
		packet.Parse(frame, len(frame), &l)
		copy(asItCame[IFAPacket][l.L3:], frame[l.L3:l.L4])
		fromIP := data
		fromIP[IFAPacket] = data[IFAPacket][l.L3:]
		padded := data
		padded[IFAStack] = append(slices.Clone(data[IFAStack]), 0, 0, 0, 0)
		cut := data
		cut[IFAPacket] = data[IFAPacket][:min(len(data[IFAPacket]), 120)]
		got, err := terminatedLines(t, d, data, asItCame, padded, cut, fromIP)
		if err != nil || len(got) != 5 {
			t.Fatalf("%s: %d records, %v", name, len(got), err)
		}
		for i, line := range got {
			have, want := values(t, line), maps.Clone(want)
			if i == 4 { // without Ethernet nothing is known of it
				for _, k := range []string{"source_mac", "destination_mac", "vlan"} {
					delete(want, k)
				}
			}
			if fmt.Sprint(have) != fmt.Sprint(want) {
				t.Errorf("%s, form %d:\n%v\nwant\n%v", name, i, have, want)
			}
			if !strings.Contains(line, `"node_id":234`) || !strings.Contains(line, fmt.Sprintf(`-%d"`, i)) && i > 0 || strings.Contains(line, `"version"`) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// TestTerminatedFromSwitch: the packet that came out of a switch, as a terminator reports it: one hop, whose residence time cannot be.
func TestTerminatedFromSwitch(t *testing.T) {
	const ether, ipHeader = `b8cef60ffcbb 00005e000109 0800`, `4500009e000100003ffdd8b10b53c5840b53c586`
	data := message.Data{
		reporttest.Hex(t, `2f110080 00001e08`),
		reporttest.Hex(t, `16425c3f 0000f8e0 007e007b 30b81f9e 3b9accda 00000000 00000000 00000000`),
		reporttest.Hex(t, ether+ipHeader+`8081909100660000`+strings.Repeat("ff", 64)), // the header of IP as it came
	}
	got, err := terminatedLines(t, NewDecoder(Options{}), data)
	if err != nil || len(got) != 1 || !strings.Contains(got[0], `"flow":"udp:11.83.197.132:32897-11.83.197.134:37009"`) || !strings.Contains(got[0], `"length":158`) ||
		!strings.Contains(got[0], `"hops":[{"node_id":410204,"ingress":123,"egress":126,"queue":0`) || !strings.Contains(got[0], `"int_type":"ifa"`) || strings.Contains(got[0], `"latency_ns"`) {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestTerminatedUnsound: what cannot be read is told, and no hop is guessed.
func TestTerminatedUnsound(t *testing.T) {
	sound := message.Data{reporttest.Hex(t, `2f110080 00001e08`), reporttest.Hex(t, `16425c3f 0000f8e0 007e007b 30b81f9e 000000da 00000000 00000000 00000000`), reporttest.Hex(t, etherHex+udp4(t, 53, `00`))}
	own := ifa.Config{Protocols: []uint8{253}, MaxResidence: 1e9}
	for _, c := range []struct {
		name, want string
		change     func(*message.Data)
	}{
		{"sound", `"hop_count":1`, func(*message.Data) {}},
		{"no packet", `"hop_count":1`, func(d *message.Data) { d[IFAPacket] = nil }},
		{"a packet cut in its addresses", `"hop_count":1`, func(d *message.Data) { d[IFAPacket] = d[IFAPacket][:25] }},
		{"a stack that is cut", `"int_problem":"shim_length"`, func(d *message.Data) { d[IFAStack] = d[IFAStack][:30] }},
		{"no stack", `"int_problem":"shim_length"`, func(d *message.Data) { d[IFAStack] = nil }},
		{"a part of a stack", `"int_problem":"ifa_part"`, func(d *message.Data) { d[IFAHeaders] = reporttest.Hex(t, `2f111080 00000001 00001e08`) }},
		{"with a checksum", `"hop_count":1`, func(d *message.Data) { d[IFAHeaders] = reporttest.Hex(t, `2f110180 12340000 00001e08`) }},
		{"hops without a layout", `"source_metadata":"16425c3f","flags":["malformed"],"int_type":"ifa","int_problem":"ifa_layout"`, func(d *message.Data) {
			d[IFAHeaders] = reporttest.Hex(t, `2f110080 00001e01`)
		}},
		{"version 3", ``, func(d *message.Data) { d[IFAHeaders] = reporttest.Hex(t, `3f110080 00001e08`) }},
		{"headers that are cut", ``, func(d *message.Data) { d[IFAHeaders] = d[IFAHeaders][:7] }},
		{"headers that are long", ``, func(d *message.Data) { d[IFAHeaders] = make([]byte, 20) }},
	} {
		data := sound
		c.change(&data)
		for _, d := range []*Decoder{NewDecoder(Options{}), NewDecoder(Options{INT: []inthdr.Config{{Formats: inthdr.Formats{IFA: &own}}}}), NewDecoder(Options{INT: []inthdr.Config{{}}})} {
			got, err := terminatedLines(t, d, data)
			if c.want == "" {
				if err == nil || len(got) > 0 {
					t.Errorf("%s: %s", c.name, got)
				}
				continue
			}
			if err != nil || len(got) != 1 || !strings.Contains(got[0], c.want) || strings.Contains(c.want, "problem") && strings.Contains(got[0], `"hops"`) {
				t.Errorf("%s: %v\n%s", c.name, err, got)
			}
		}
		if clipped := data; ClipIFA(&clipped) != (c.want != "") {
			t.Errorf("%s: ClipIFA does not agree", c.name)
		}
	}
}

// TestTerminatedWithINT: the packet is the sender's: what looks like INT in it is its own, and the hops are those of the stack.
func TestTerminatedWithINT(t *testing.T) {
	data := message.Data{
		reporttest.Hex(t, `2f110080 00001e08`), reporttest.Hex(t, `16425c3f 0000f8e0 007e007b 30b81f9e 000000da 00000000 00000000 00000000`),
		reporttest.Hex(t, etherHex+udp4(t, 5000, `14 06 0035`+md("03", "e000", "00000001 00010002 00000064"))),
	}
	got, err := terminatedLines(t, NewDecoder(Options{}), data)
	if err != nil || len(got) != 1 || !strings.Contains(got[0], `"destination_port":5000`) || !strings.Contains(got[0], `"hops":[{"node_id":410204`) || strings.Contains(got[0], `"node_id":1,`) {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestTerminatedLayouts: hops are read by the layouts of the configuration, whichever link they are of.
func TestTerminatedLayouts(t *testing.T) {
	short, _ := ifa.NewLayout("short", ifa.GNSByHop, 9, []ifa.Part{{Field: ifa.LNS, Width: 4}, {Field: ifa.DeviceID, Width: 28}, {Field: ifa.ResidenceTime, Width: 32}})
	links := []inthdr.Config{{Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, MaxResidence: 1e9}}}, {Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{131}, MaxResidence: 1e9, Layouts: []ifa.Layout{short}}}}}
	data := message.Data{reporttest.Hex(t, `2f110080 00001e02`), reporttest.Hex(t, `9000abcd 000003e8`), reporttest.Hex(t, etherHex+udp4(t, 53, `00`))}
	got, err := terminatedLines(t, NewDecoder(Options{INT: links}), data)
	if err != nil || len(got) != 1 || !strings.Contains(got[0], `"hops":[{"node_id":43981,"latency_ns":1000}]`) {
		t.Errorf("%v\n%s", err, got)
	}
}

// ethernet is a report packet with one report, of a frame.
func ethernet(t testing.TB, frame []byte) string {
	n := len(frame)
	return groupHex + `03` + hex.EncodeToString([]byte{byte((n + 3) / 4)}) + `00 20` + hex.EncodeToString(frame) + strings.Repeat("00", (4-n%4)%4)
}

// FuzzMessage: no message makes the decoder panic, leave bytes in the frame, or give a record whose JSON or protobuf is not valid.
func FuzzMessage(f *testing.F) {
	f.Add(reporttest.Hex(f, `2f110080 00001e08`), reporttest.Hex(f, `16425c3f 0000f8e0 007e007b 30b81f9e 000000da 00000000 00000000 00000000`), reporttest.Hex(f, etherHex+udp4(f, 4789, `08000000 00000700`+etherHex+udp4(f, 53, `0000 0000`))))
	f.Add(reporttest.Hex(f, `2f2f0080 00001e05`), make([]byte, 20), reporttest.Hex(f, `6000000000082ffd`+strings.Repeat("20010db8", 8)+`2000 0800 00000007`))
	f.Add(reporttest.Hex(f, `2f110180 00000000 00001e00`), []byte{}, reporttest.Hex(f, `4600 0020 0001 4000 40fd 0000 0a000001 0a000002 01010101 00350035 00080000`))
	d := NewDecoder(Options{})
	zeros := make([]byte, len(d.frame))
	var b []byte
	f.Fuzz(func(t *testing.T, headers, stack, packet []byte) {
		data := message.Data{headers, stack, packet}
		sound := ClipIFA(&data)
		m := message.Append(nil, message.Header{Domain: 1}, &terminatorWanted, message.Data{data[0][:min(len(data[0]), 100)], data[1][:min(len(data[1]), 2000)], data[2][:min(len(data[2]), 2000)]})
		n, err := d.Message(m, &testOrigin, func(r *Record) {
			if b = AppendJSON(b[:0], r); !json.Valid(b) {
				t.Errorf("not JSON: %s", b)
			}
			if b = AppendProto(b[:0], r); !soundMessage(b) {
				t.Errorf("not a message: %x", b)
			}
			if 4*len(r.Hops) > len(stack) {
				t.Errorf("%d hops out of %d bytes", len(r.Hops), len(stack))
			}
		})
		if sound != (n == 1 && err == nil) {
			t.Errorf("%d records and %v of %x", n, err, data[IFAHeaders])
		}
		if !bytes.Equal(d.frame, zeros) {
			t.Fatal("bytes of the frame stay")
		}
	})
}
