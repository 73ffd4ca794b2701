package collect_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
	"intsink/exporters/record"
)

// got has the JSON fields that tests recognise a record by.
type got struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Sequence uint64 `json:"sequence"`
	Index    int    `json:"index"`
	First    uint64 `json:"first"`
	Last     uint64 `json:"last"`
}

// fakeOutput is an output that takes all records, none, or fails some of them.
type fakeOutput struct {
	mu     sync.Mutex
	room   bool
	fails  int // the next so many records fail
	large  int // the next so many records are dropped as too large
	mute   bool
	silent []*collect.Delivery // never settled while mute
	got    []got
	closed bool
}

func (o *fakeOutput) Format() collect.Format { return collect.JSON }

func (o *fakeOutput) Room(int, int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.room && len(o.silent) < 10
}

func (o *fakeOutput) Send(d *collect.Delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mute {
		o.silent = append(o.silent, d)
		return
	}
	for n := range d.Count() {
		i := d.Index(n)
		switch {
		case o.fails > 0:
			o.fails--
			d.Failed(i, errors.New("away"))
			continue
		case o.large > 0:
			o.large--
			d.Dropped(i, collect.TooLarge)
			continue
		}
		var g got
		if err := json.Unmarshal(d.Record(collect.JSON, i), &g); err != nil {
			panic(err)
		}
		o.got = append(o.got, g)
		d.Delivered(1)
	}
}

func (o *fakeOutput) Flush(context.Context) {}

func (o *fakeOutput) Close() error {
	o.mu.Lock()
	silent := o.silent
	o.silent, o.closed = nil, true
	o.mu.Unlock()
	for _, d := range silent {
		d.FailedAll(errors.New("closed"))
	}
	return nil
}

func (o *fakeOutput) set(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
}

func (o *fakeOutput) reports() (all []got) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, g := range o.got {
		if g.Type == "report" {
			all = append(all, g)
		}
	}
	return all
}

// wantOrder fails the test unless all holds the reports of packets from to to-1, in order,
// each once.
func wantOrder(t *testing.T, all []got, from, to int) {
	t.Helper()
	for i, g := range all {
		if g.Sequence != uint64(from+i/2) || g.Index != i%2 {
			t.Fatalf("record %d is %+v", i, g)
		}
	}
	if len(all) != 2*(to-from) {
		t.Errorf("%d records, want %d", len(all), 2*(to-from))
	}
}

// left is how many records an output has not settled.
func left(o collect.OutputSnapshot) uint64 { return o.Queued + o.Waiting }

func TestDelivery(t *testing.T) {
	out := &fakeOutput{room: true}
	b := collecttest.New(t, collect.Options{}, 0, out)
	b.Send(500)
	b.Stop()
	wantOrder(t, out.reports(), 0, 500)
	s := b.C.Snapshot()
	if o := s.Outputs[0]; o.Delivered != 1000+s.Records[record.Stats] || !out.closed {
		t.Errorf("%+v", o)
	}
	if l := s.Listens[0]; l.Packets != 500 || len(l.Streams) != 1 || l.Streams[0].Received != 500 || l.Buffer < 1<<20 {
		t.Errorf("%+v", l)
	}
}

// TestFailedRecordsAreSentAgain: they are sent before any other record.
func TestFailedRecordsAreSentAgain(t *testing.T) {
	out := &fakeOutput{room: true, fails: 7, large: 1}
	b := collecttest.New(t, collect.Options{}, 0, out)
	b.Send(50)
	b.Wait("everything is delivered", func() bool { return left(b.C.Snapshot().Outputs[0]) == 0 })
	b.Stop()
	seen := map[string]bool{}
	for _, g := range out.reports() {
		seen[g.ID] = true
	}
	o := b.C.Snapshot().Outputs[0]
	if len(seen) != 99 || len(out.reports()) != 99 || o.Retried < 7 || o.Dropped[collect.TooLarge] != 1 {
		t.Errorf("%d records, %d ids, %+v", len(out.reports()), len(seen), o)
	}
}

func TestWithoutASpoolAFullQueueDrops(t *testing.T) {
	out, good := &fakeOutput{}, &fakeOutput{room: true}
	b := collecttest.New(t, collect.Options{Flush: 50 * time.Millisecond, Queue: 10000}, 0, out, good)
	for sent := 4; sent <= 300; sent += 4 { // as many as a queue has room for
		b.Send(4)
		b.Wait("the good one has all", func() bool { return len(good.reports()) == 2*sent && left(b.C.Snapshot().Outputs[1]) == 0 })
	}
	o := b.C.Snapshot().Outputs[0]
	if o.Dropped[collect.QueueFull] == 0 || o.Queued == 0 || o.Dropped[collect.QueueFull]+left(o) != 600 {
		t.Errorf("%+v", o)
	}
	b.Stop()
	if o := b.C.Snapshot().Outputs[0]; o.Dropped[collect.NotDelivered] == 0 || left(o) != 0 {
		t.Errorf("%+v", o)
	}
}

// TestSpool: while one output takes nothing, its records wait in the log; it gets all of them in order
// afterwards, and the other output notices nothing. So with a spool and in memory, whether the output finds its records among the
// latest batches or has to read the log.
func TestSpool(t *testing.T) {
	for _, recent := range []int{5000, 16 << 20} { // far less, and far more, than 400 reports take
		for _, size := range []int64{0, 1 << 30} {
			t.Run(fmt.Sprintf("recent %d, spool %d", recent, size), func(t *testing.T) {
				out, good := &fakeOutput{}, &fakeOutput{room: true}
				b := collecttest.New(t, collect.Options{Recent: recent}, size, out, good)
				b.Send(400)
				b.Wait("the good one has all", func() bool { return len(good.reports()) == 800 })
				if o := b.C.Snapshot().Outputs[0]; o.Waiting == 0 || o.Queued == 0 || o.Live != (recent > 5000) || o.Delivered != 0 {
					t.Errorf("%+v", o)
				}
				out.set(func() { out.room = true })
				b.Send(100)
				b.Wait("it has caught up", func() bool { o := b.C.Snapshot().Outputs[0]; return o.Live && o.Queued+o.Waiting == 0 })
				b.Send(100)
				b.Wait("both have all", func() bool { return len(out.reports()) == 1200 && len(good.reports()) == 1200 })
				b.Stop()
				wantOrder(t, out.reports(), 0, 600)
				wantOrder(t, good.reports(), 0, 600)
			})
		}
	}
}

// TestRestart: records that one process did not deliver are delivered by the next, in order
// and under the same ids, and extended sequence numbers continue.
func TestRestart(t *testing.T) {
	for _, recent := range []int{5000, 1 << 20} { // with and without reading the log
		t.Run(fmt.Sprint("recent ", recent), func(t *testing.T) {
			o := collect.Options{Flush: 50 * time.Millisecond, Recent: recent}
			out := &fakeOutput{room: true, mute: true}
			b := collecttest.New(t, o, 1<<30, out)
			b.Send(300)
			o.Listens = []collect.Listen{{Address: b.Address(), Sockets: 1, Buffer: 1 << 20, Streams: 10}}
			b.Stop()
			kept := 600 + b.C.Snapshot().Records[record.Stats]
			if o := b.C.Snapshot().Outputs[0]; o.Waiting != kept || o.Queued != 0 {
				t.Errorf("%+v", o)
			}
			for range 2 { // one that delivers nothing changes nothing
				out = &fakeOutput{}
				b.Start(o, 1<<30, out)
				b.Stop()
			}
			out = &fakeOutput{room: true}
			b.Start(o, 1<<30, out)
			if o := b.C.Snapshot().Outputs[0]; o.Restored != kept {
				t.Errorf("%+v", o)
			}
			b.Send(50)
			b.Wait("all is delivered", func() bool { o := b.C.Snapshot().Outputs[0]; return o.Live && o.Queued+o.Waiting == 0 })
			b.Stop()
			wantOrder(t, out.reports(), 0, 350)
			ids := map[string]bool{}
			for _, g := range out.got {
				ids[g.ID] = true
			}
			if len(ids) != len(out.got) {
				t.Errorf("%d ids of %d records", len(ids), len(out.got))
			}
		})
	}
}

// TestFullSpool: the oldest reports are dropped, gap records say which, and the accounts add
// up.
func TestFullSpool(t *testing.T) {
	out := &fakeOutput{}
	b := collecttest.New(t, collect.Options{Recent: 2000}, 16000, out)
	b.Send(600)
	out.set(func() { out.room = true })
	b.Wait("it has caught up", func() bool { o := b.C.Snapshot().Outputs[0]; return o.Live && o.Queued+o.Waiting == 0 })
	b.Stop()
	o := b.C.Snapshot().Outputs[0]
	have := map[uint64]bool{}
	for _, g := range out.got {
		switch g.Type {
		case "report":
			have[g.Sequence] = true
		case "gap":
			for n := g.First; n <= g.Last; n++ {
				if have[n] {
					t.Fatalf("%d came, and is said to be missing", n)
				}
				have[n] = true
			}
		}
	}
	if o.Dropped[collect.SpoolFull] == 0 || len(have) != 600 || int(o.Dropped[collect.SpoolFull])/2 != 600-len(out.reports())/2 {
		t.Errorf("%d numbers, %d reports, %+v", len(have), len(out.reports()), o)
	}
}

// TestReplayIsBounded: records of the spool are delivered no faster than Options.Replay allows,
// in order, followed by those that arrive meanwhile.
func TestReplayIsBounded(t *testing.T) {
	b := collecttest.New(t, collect.Options{Recent: 2000, Flush: 50 * time.Millisecond}, 1<<30, &fakeOutput{})
	b.Send(600)
	address := b.Address()
	b.Stop()
	out, began := &fakeOutput{room: true}, time.Now()
	b.Start(collect.Options{Replay: 1000, Listens: []collect.Listen{{Address: address, Sockets: 1, Buffer: 1 << 20, Streams: 10}}}, 1<<30, out)
	b.Send(100)
	b.Wait("it has caught up", func() bool { o := b.C.Snapshot().Outputs[0]; return o.Live && o.Queued+o.Waiting == 0 })
	if took := time.Since(began); took < time.Second {
		t.Errorf("1200 records after %v", took)
	}
	b.Stop()
	wantOrder(t, out.reports(), 0, 700)
}

// TestReplaceOutput: the new output gets the records that the old one did not deliver.
func TestReplaceOutput(t *testing.T) {
	old, out := &fakeOutput{room: true, mute: true}, &fakeOutput{room: true}
	b := collecttest.New(t, collect.Options{}, 0, old)
	b.Send(100)
	b.C.SetOutputs([]collect.NamedOutput{{Name: "out0", Output: out}})
	b.Send(100)
	b.Wait("all is delivered", func() bool { return left(b.C.Snapshot().Outputs[0]) == 0 })
	b.Stop()
	wantOrder(t, out.reports(), 0, 200)
	if !old.closed || len(old.got) != 0 {
		t.Errorf("the old output: %+v", old)
	}
}

// TestMostReports: a packet has 2048 reports at most.
func TestMostReports(t *testing.T) {
	b := collecttest.New(t, collect.Options{}, 0, &fakeOutput{room: true})
	b.Write(append(collecttest.Packet(0, 1), make([]byte, 4*2047)...))
	b.Write(append(collecttest.Packet(1, 1), make([]byte, 4*2048)...))
	b.Stop()
	if l := b.C.Snapshot().Listens[0]; l.Packets != 1 || l.Refused != [collect.NumRefusals]uint64{collect.NotReport: 1} {
		t.Errorf("%+v", l)
	}
}

func TestRefusedDatagrams(t *testing.T) {
	out := &fakeOutput{room: true}
	b := collecttest.New(t, collect.Options{Listens: []collect.Listen{{Address: "127.0.0.1:0", Sockets: 1, Buffer: 1 << 20, Streams: 1, Limit: 4}}}, 0, out)
	b.Write(collecttest.Packet(0, 1))
	b.Write([]byte{0x20})
	b.Write([]byte("hello, collector"))
	b.Write(collecttest.Packet(1, 0)) // refused: no report can be read in it
	accepted := uint64(0)             // the first one, and one more with each quarter of a second that passes
	for n := uint32(2); b.C.Snapshot().Listens[0].Refused[collect.OverLimit] == 0; n++ {
		b.Write(collecttest.Packet(n, 1)) // the last one is refused: over the limit
		accepted++
	}
	b.Stop()
	l := b.C.Snapshot().Listens[0]
	if want := [collect.NumRefusals]uint64{collect.NotReport: 2, collect.Undecodable: 1, collect.OverLimit: 1}; l.Refused != want || l.Packets != accepted || l.Streams[0].Undecodable != 1 {
		t.Errorf("%+v", l)
	}

	none := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	b = collecttest.New(t, collect.Options{Listens: []collect.Listen{{Address: "127.0.0.1:0", Sockets: 1, Buffer: 1 << 20, Streams: 1, Allow: none}}}, 0, out)
	b.Write(collecttest.Packet(0, 1))
	b.C.SetAllow("", []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	b.Write(collecttest.Packet(0, 1))
	other := collecttest.Packet(7, 1)
	other[7]++ // another node
	b.Write(other)
	b.Stop()
	if l := b.C.Snapshot().Listens[0]; l.Refused != [collect.NumRefusals]uint64{collect.NotAllowed: 1, collect.TooManyStreams: 1} || l.Packets != 1 {
		t.Errorf("%+v", l)
	}
}

// TestGapRecords: a sequence number that does not come within a second gives a gap record.
func TestGapRecords(t *testing.T) {
	out := &fakeOutput{room: true}
	b := collecttest.New(t, collect.Options{}, 0, out)
	b.Send(2)
	b.Next += 3
	b.Send(1)
	isGap := func(g got) bool { return g.Type == "gap" }
	b.Wait("a gap record", func() bool {
		out.mu.Lock()
		defer out.mu.Unlock()
		return slices.ContainsFunc(out.got, isGap)
	})
	b.Stop()
	if g := out.got[slices.IndexFunc(out.got, isGap)]; g.First != 2 || g.Last != 4 {
		t.Errorf("%+v", g)
	}
}

// TestFleet: 30 sinks of 8 workers send to two collectors, and some packets are lost on the
// way. The losses that the collectors count, and the gaps in the stored sequence numbers,
// equal the packets that were lost.
func TestFleet(t *testing.T) {
	outs := []*fakeOutput{{room: true}, {room: true}}
	var beds []*collecttest.Bed
	for _, o := range outs {
		listen := []collect.Listen{{Address: "127.0.0.1:0", Sockets: 2, Buffer: 4 << 20, Streams: 240}}
		beds = append(beds, collecttest.New(t, collect.Options{Listens: listen}, 0, o))
	}
	r := rand.New(rand.NewPCG(1, 2))
	lost := make([]uint64, len(beds))
	for n := range uint32(12) {
		for stream := range uint32(240) {
			sink, to := stream/8, stream/8%2
			if n > 0 && n < 11 && r.IntN(10) == 0 {
				lost[to]++
				continue
			}
			p := collecttest.Packet(4194300+n, 1) // the 22 bits of sequence numbers wrap meanwhile
			p[0], p[1] = 0x20|byte(stream%8>>2), p[1]&0x3f|byte(stream%8<<6)
			p[7] = byte(sink)
			beds[to].Write(p)
		}
	}
	for i, b := range beds {
		counted := func() (n uint64) {
			for _, s := range b.C.Snapshot().Listens[0].Streams {
				n += s.Lost
			}
			return n
		}
		b.Wait("the losses are counted", func() bool { return counted() >= lost[i] })
		b.Wait("all is delivered", func() bool { return left(b.C.Snapshot().Outputs[0]) == 0 })
		b.Stop()
		least, most, have := map[string]uint64{}, map[string]uint64{}, map[string]uint64{} // by node, hw_id and start
		var told uint64
		for _, g := range outs[i].got {
			if g.Type == "gap" {
				told += g.Last - g.First + 1
			}
			if g.Type != "report" {
				continue
			}
			parts := strings.Split(g.ID, "-")
			k := strings.Join(parts[:3], "-")
			if have[k] == 0 {
				least[k] = g.Sequence
			}
			least[k], most[k] = min(least[k], g.Sequence), max(most[k], g.Sequence)
			have[k]++
		}
		var missing uint64
		for k := range have {
			missing += most[k] - least[k] + 1 - have[k]
		}
		if len(have) != 120 || counted() != lost[i] || told != lost[i] || missing != lost[i] {
			t.Errorf("collector %d: %d streams, %d lost; counted %d, told %d, missing from what is stored %d", i, len(have), lost[i], counted(), told, missing)
		}
	}
}
