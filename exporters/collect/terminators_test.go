package collect_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"intsink/engine/wire/report/reporttest"
	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
	"intsink/exporters/ipfix/message"
	"intsink/exporters/record"
	"intsink/internal/hostile"
	"intsink/internal/rounds"
)

// terminators is a listen that takes Broadcom's three elements under these ids.
func terminators() []collect.Listen {
	return []collect.Listen{{Name: "switches", Address: "127.0.0.1:0", Sockets: 1, Buffer: 4 << 20, Streams: 8,
		IPFIX: &collect.IPFIX{Wanted: message.Wanted{{Enterprise: 4413, ID: 1}, {Enterprise: 4413, ID: 2}, {Enterprise: 4413, ID: 3}}, Lifetime: time.Hour}}}
}

// Sets: a template of the three elements under an id, with lengths that vary; data records of one hop and of two; a template of others
// with two data records, one of options with one.
const (
	oneHop  = `2f110080 00001e08  20 1000 1a3f 00000000 007e007b 00000000 000003e8 00000000 00000000 00000000 `
	twoHops = `2f110080 00001e10  ff0040 1000 2a3e 00000000 00010002 00000000 000007d0 00000000 00000000 00000000  1000 1a3f 00000000 007e007b 00000000 000003e8 00000000 00000000 00000000 `
	others  = `0002 0010 0200 0002 0008 0004 000c 0004  0200 0014 0a000001 0a000002 0a000003 0a000004 `
	options = `0003 0012 0201 0002 0001 0095 0004 0029 0008  0201 0010 00000007 0000000000000001 `
)

func template(id string) string {
	return `0002 0020 ` + id + ` 0003 8001 0008 0000113d 8002 ffff 0000113d 8003 ffff 0000113d `
}

// packet is a UDP packet of a flow without IFA, as the last element has it.
func packetOf(port uint16) string {
	return fmt.Sprintf(`2b 020000000002 020000000001 0800 4500 001d 0001 4000 40 11 0000 0a000001 0a000002 9c40 %04x 0009 0000 00 `, port)
}

// set is a set of an id with contents.
func set(t testing.TB, id, contents string) string {
	return fmt.Sprintf("%s %04x %s", id, 4+len(reporttest.Hex(t, contents)), contents)
}

// ipfixMessage is a message of a domain with sets.
func ipfixMessage(t testing.TB, domain, sequence uint32, sets ...string) []byte {
	m := message.AppendHeader(nil, message.Header{Time: uint32(time.Now().Unix()), Sequence: sequence, Domain: domain})
	m = append(m, reporttest.Hex(t, strings.Join(sets, ""))...)
	message.SetLength(m)
	return m
}

// bench is a collector with that listen, whose records a test reads.
type terminatorBed struct {
	*collecttest.Bed
	t    testing.TB
	hand *collecttest.Hand
}

func newTerminatorBed(t *testing.T, spool int64) *terminatorBed {
	hand := collecttest.NewHand(collect.JSON)
	o := collect.Options{Listens: terminators(), Decoder: func() collect.Decoder { return record.NewDecoder(record.Options{}) }, Flush: time.Second}
	return &terminatorBed{collecttest.New(t, o, spool, hand), t, hand}
}

// next returns the next n records, and settles them.
func (b *terminatorBed) next(n int) (all []map[string]any) {
	b.t.Helper()
	for len(all) < n {
		d := b.hand.Next(b.t)
		for i := range d.Count() {
			var v map[string]any
			if err := json.Unmarshal(d.Record(collect.JSON, d.Index(i)), &v); err != nil {
				b.t.Fatal(err)
			}
			if v["type"] != "stats" { // a stop makes them
				all = append(all, v)
			}
		}
		d.Delivered(d.Count())
	}
	if len(all) != n {
		b.t.Fatalf("%d records, want %d: %v", len(all), n, all)
	}
	return all
}

// addUp fails the test unless the data records that were read are those of the streams.
func addUp(t testing.TB, l collect.ListenSnapshot) {
	t.Helper()
	read, received := uint64(0), l.Gone.Received
	for _, n := range l.Terminators.Fates() {
		read += n
	}
	for _, s := range l.Streams {
		received += s.Received
	}
	if read != received {
		t.Errorf("%d data records were read, the streams have %d: %+v", read, received, l)
	}
}

// TestTerminators: messages by bytes, and the records, gaps and sums that come of them.
func TestTerminators(t *testing.T) {
	b := newTerminatorBed(t, 0)
	b.Write(ipfixMessage(t, 7, 0, template("0101"), set(t, "0101", oneHop+packetOf(53)+twoHops+packetOf(54))))
	got := b.next(2)
	for i, want := range []struct{ flow, sequence, hops string }{
		{"udp:10.0.0.1:40000-10.0.0.2:53", "0", `[map[congestion:0 egress:126 ingress:123 latency_ns:1000 node_id:26 queue:0]]`},
		{"udp:10.0.0.1:40000-10.0.0.2:54", "1", `[map[congestion:0 egress:126 ingress:123 latency_ns:1000 node_id:26 queue:0] map[congestion:0 egress:1 ingress:2 latency_ns:2000 node_id:42 queue:0]]`},
	} {
		if r := got[i]; r["flow"] != want.flow || fmt.Sprint(r["sequence"]) != want.sequence || fmt.Sprint(r["hops"]) != want.hops || r["int_type"] != "ifa" || fmt.Sprint(r["node_id"]) != "7" || r["exporter"] != "127.0.0.1" {
			t.Errorf("record %d: %v", i, r)
		}
	}

	// Options and others are in the sequence, and no records; a template of others under the id is what counts from there on.
	b.Write(ipfixMessage(t, 7, 2, options, set(t, "0101", oneHop+packetOf(55)), others, template("0102"), set(t, "0102", oneHop+packetOf(56))))
	if got = b.next(2); fmt.Sprint(got[0]["sequence"], got[1]["sequence"]) != "3 6" {
		t.Errorf("records %v", got)
	}
	b.Write(ipfixMessage(t, 7, 7, set(t, "0101", `3f`+oneHop[2:]+packetOf(57)+oneHop+packetOf(58)), set(t, "0103", `00000000`)))
	if got = b.next(1); fmt.Sprint(got[0]["sequence"]) != "8" {
		t.Errorf("record %v", got)
	}

	// Three are lost, the set of unknown template among them: 9 to 11.
	b.Write(ipfixMessage(t, 7, 12, set(t, "0101", oneHop+packetOf(59))))
	got = b.next(1)
	gap := b.next(1)[0]
	if fmt.Sprint(got[0]["sequence"]) != "12" || gap["type"] != "gap" || fmt.Sprint(gap["first"], gap["last"], gap["count"]) != "9 11 3" || fmt.Sprint(gap["node_id"]) != "7" {
		t.Errorf("record %v, gap %v", got, gap)
	}

	// Another domain has its own numbers and templates.
	b.Write(ipfixMessage(t, 8, 0, set(t, "0101", oneHop+packetOf(60))))
	b.Write(ipfixMessage(t, 8, 1<<32-1, template("0101"), set(t, "0101", oneHop+packetOf(60)+oneHop+packetOf(61)))) // the sequence wraps
	b.Write(ipfixMessage(t, 8, 1, set(t, "0101", oneHop+packetOf(62))))
	if got = b.next(3); fmt.Sprint(got[0]["sequence"], got[1]["sequence"], got[2]["sequence"]) != "4.294967295e+09 4.294967296e+09 4.294967297e+09" {
		t.Errorf("records %v", got)
	}
	b.Write([]byte("nothing"))
	b.Write(collecttest.Packet(0, 1))

	l := b.C.Snapshot().Listens[0]
	if f := l.Terminators.Fates(); f != [collect.NumFates]uint64{collect.ReportRecord: 9, collect.NotIFA: 1, collect.OtherRecord: 2, collect.OptionsRecord: 1} {
		t.Errorf("data records %v", f)
	}
	if l.Terminators.Unread != [message.NumUnread]uint64{message.NoTemplate: 2} || l.Terminators.Known != 5 || l.Terminators.Templates != 5 {
		t.Errorf("%+v", l.Terminators)
	}
	if l.Datagrams != 9 || l.Packets != 7 || l.Refused[collect.NotReport] != 2 || len(l.Streams) != 2 || l.Streams[0].Lost != 3 || l.Streams[0].Undecodable != 1 || l.Streams[1].Lost != 0 {
		t.Errorf("%+v", l)
	}
	addUp(t, l)
	b.Stop()
}

// TestTerminatorRestarts: an exporter that counts from 0 again has restarted, and none of its records are lost; one that sends a message
// again, or late, has not.
func TestTerminatorRestarts(t *testing.T) {
	b := newTerminatorBed(t, 0)
	many := func(n int) (data string) {
		for i := range n {
			data += oneHop + packetOf(uint16(i))
		}
		return set(t, "0101", data)
	}
	send := func(sequence uint32, n int) {
		b.Write(ipfixMessage(t, 7, sequence, template("0101"), many(n)))
		b.next(n)
	}
	send(1_005_000, 20)
	send(1_005_040, 1)
	send(1_005_020, 20) // late, in time
	send(1_005_020, 20) // again
	s := b.C.Snapshot().Listens[0].Streams[0]
	if s.Restarts != 0 || s.Lost != 0 || s.Reordered != 20 || s.Repeated != 20 {
		t.Errorf("%+v", s)
	}
	send(0, 10)
	send(10, 10)
	send(20, 10)
	if s = b.C.Snapshot().Listens[0].Streams[0]; s.Restarts != 1 || s.Lost != 0 || s.Received != 91 {
		t.Errorf("%+v", s)
	}
	b.Stop()
}

// TestTerminatorsInTheLog: what waits on disk is read without a template that other messages told, in another process, which
// knows numbers and templates.
func TestTerminatorsInTheLog(t *testing.T) {
	b := newTerminatorBed(t, 16<<20)
	exporter, err := net.ListenPacket("udp", "127.0.0.1:0") // its port is a part of the session
	if err != nil {
		t.Fatal(err)
	}
	defer exporter.Close()
	write := func(m []byte) {
		to, _ := net.ResolveUDPAddr("udp", b.Address())
		if _, err := exporter.WriteTo(m, to); err != nil {
			t.Fatal(err)
		}
	}
	write(ipfixMessage(t, 7, 0, template("0101"), set(t, "0101", oneHop+packetOf(53)+twoHops+packetOf(54)), others, set(t, "0101", oneHop+packetOf(55))))
	b.Wait("it waits", func() bool { return b.C.Snapshot().Outputs[0].Taken == 3 })
	b.Stop()
	again := collecttest.NewHand(collect.JSON)
	o := collect.Options{Listens: terminators(), Decoder: func() collect.Decoder { return record.NewDecoder(record.Options{}) }, Flush: time.Second}
	o.Listens[0].Address = b.Address()
	b.Start(o, 16<<20, again)
	b.hand = again
	var all []string
	for _, r := range b.next(3) {
		all = append(all, fmt.Sprintf("%v %v %v", r["sequence"], r["flow"], r["hop_count"]))
	}
	if want := "0 udp:10.0.0.1:40000-10.0.0.2:53 1,1 udp:10.0.0.1:40000-10.0.0.2:54 2,4 udp:10.0.0.1:40000-10.0.0.2:55 1"; strings.Join(all, ",") != want {
		t.Errorf("records %q", all)
	}
	write(ipfixMessage(t, 7, 6, set(t, "0101", oneHop+packetOf(56)))) // the number goes on: one is missing. The template is known
	if r, gap := b.next(1)[0], b.next(1)[0]; fmt.Sprint(r["sequence"]) != "6" || fmt.Sprintf("%v %v-%v", gap["type"], gap["first"], gap["last"]) != "gap 5-5" {
		t.Errorf("record %v, gap %v", r, gap)
	}
	b.Stop()
}

// TestHostileTerminators: each message that is mutated at random is taken or refused for a reason, and the sums add up: datagrams, data
// records, outputs.
func TestHostileTerminators(t *testing.T) {
	b := newTerminatorBed(t, 0)
	settled := make(chan struct{})
	defer func() { close(b.hand.Deliveries); <-settled }()
	go func() {
		for d := range b.hand.Deliveries {
			d.Delivered(d.Count())
		}
		close(settled)
	}()
	messages := [][]byte{
		ipfixMessage(t, 7, 0, template("0101"), set(t, "0101", oneHop+packetOf(53)+twoHops+packetOf(54))),
		ipfixMessage(t, 7, 2, options, set(t, "0101", oneHop+packetOf(55)), others),
		ipfixMessage(t, 8, 0, template("0101"), set(t, "0101", strings.Repeat(oneHop+packetOf(56), 9))),
		ipfixMessage(t, 9, 0, `0002 000c 0300 0001 0004 0001 `, set(t, "0300", strings.Repeat("11", 2000))),
		ipfixMessage(t, 9, 0, `0002 000c 0300 0001 0004 0001 `, set(t, "0300", strings.Repeat("11", 3000))), // more data records than a message may have
	}
	conn, err := net.Dial("udp", b.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	hostile.Play(t, rounds.Of(20_000, 20), func(r *rand.Rand) int {
		const n = 200
		before := b.C.Snapshot().Listens[0].Datagrams
		for i := range n {
			m := messages[i%len(messages)]
			if i >= len(messages) {
				if m = hostile.Mutate(r, m, messages[r.IntN(len(messages))], 1, 4000); len(m) >= message.HeaderLen && r.IntN(4) > 0 {
					binary.BigEndian.PutUint16(m, message.Version) // else few are more than a header
					message.SetLength(m)
				}
			}
			if _, err := conn.Write(m); err != nil {
				t.Fatal(err)
			}
		}
		b.Wait("datagrams are taken", func() bool { return b.C.Snapshot().Listens[0].Datagrams-before == n })
		addUp(t, b.C.Snapshot().Listens[0])
		return n
	})
	l := b.C.Snapshot().Listens[0]
	if l.Packets == 0 || l.Overflows != 0 || l.Terminators.Fates()[collect.ReportRecord] == 0 || l.Refused[collect.NotReport] == 0 || len(l.Streams) > 8 {
		t.Errorf("%+v", l)
	}
	b.Stop()
}
