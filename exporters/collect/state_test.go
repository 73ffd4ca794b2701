package collect

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/exporters/collect/spool"
	"intsink/exporters/record"
)

// TestSpoolThatCannotBeWritten: records wait in memory, as many as fit, then the oldest count as lost, with gap records; when the disk takes
// them again, what waits is written.
func TestSpoolThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	b := feedBedOn(t, spool.Options{Directory: dir, Size: 1 << 30, Memory: 4000})
	b.out.full = true
	b.push(1, 2)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	b.c.o.Spool.Rotate()
	for n := range uint32(100) {
		b.push(n+2, 2)
	}
	a := b.snapshot(time.Now()).Accounts
	if d := a.Dropped[SpoolFailed]; b.c.spoolErr == 0 || d == 0 || a.Waiting != 202-d || b.c.o.Spool.Failing() == nil {
		t.Errorf("%d errors, %+v, failing: %v", b.c.spoolErr, a, b.c.o.Spool.Failing())
	}
	text := b.said.take()
	if !strings.Contains(text, "the spool cannot be written") || !strings.Contains(text, "output=out records=") || !strings.Contains(text, "reason=spool_failed") {
		t.Errorf("logged %q", text)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	if err := b.c.o.Spool.Sync(); err != nil {
		t.Fatal(err)
	}
	b.out.full = false
	b.steps(time.Now())
	gap := b.out.sent[0]
	lost := a.Dropped[SpoolFailed] / 2
	if want := fmt.Sprintf(`"first":2,"last":%d`, lost+1); gap.Len() != 1 || !strings.Contains(string(gap.Record(JSON, 0)), want) {
		t.Errorf("%d gap records, %s, want %s", gap.Len(), gap.Record(JSON, 0), want)
	}
	for _, d := range b.out.sent {
		d.Delivered(d.Len())
	}
	b.want(Accounts{Taken: 203, Delivered: 203 - 2*lost, Dropped: dropped(SpoolFailed, 2*lost)})
}

// TestStartWithASpool: the outputs' positions are written before the first entry; the log tells where
// that fails.
func TestStartWithASpool(t *testing.T) {
	for _, fails := range []bool{false, true} {
		dir := t.TempDir()
		s, err := spool.Open(spool.Options{Directory: dir, Size: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "positions.json")
		if fails {
			os.MkdirAll(filepath.Join(path, "in the way"), 0o700)
		}
		c, said := collectorBed(t, Options{Spool: s}, 0, NamedOutput{"out", &slowOutput{}})
		text, _ := os.ReadFile(path)
		if !fails && !strings.Contains(string(text), `"out":{"segment":1,"offset":24}`) {
			t.Errorf("positions %s", text)
		}
		if text := said.take(); (text != "") != fails || fails && !strings.Contains(text, "the spool cannot be written") {
			t.Errorf("logged %q", text)
		}
		os.RemoveAll(path)
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		s.Close()
	}
}

// send sends a collector, to its first address, packets with these numbers, each once the one before is taken.
func send(t *testing.T, c *Collector, numbers ...uint32) {
	t.Helper()
	conn, err := net.Dial("udp", c.Addresses()[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for i, n := range numbers {
		conn.Write(entryOf(n, 1).Payload)
		until(t, "a packet is taken", func() bool { return c.Snapshot().Listens[0].Packets == uint64(i+1) })
	}
}

// start starts a collector on an address whose streams' numbers are in the file, sends it packets with
// these numbers, and stops it. It returns the extended numbers that they got.
func start(t *testing.T, address, state string, numbers ...uint32) (extended []uint64, where, log string, err error) {
	t.Helper()
	out := &slowOutput{full: true}
	c, said := collectorBed(t, Options{
		State:   state,
		Listens: []Listen{{Address: address, Sockets: 1, Buffer: 1 << 20, Streams: 10}},
		Observe: func() func(*record.Record) {
			return func(r *record.Record) { extended = append(extended, r.Sequence) }
		},
	}, 0, NamedOutput{"out", out})
	where = c.Addresses()[0].String()
	send(t, c, numbers...)
	err = c.Stop()
	return extended, where, said.take(), err
}

// TestExactNumbersAreExactOnce: once a process has gone on from them, packets come: if it is killed before it writes the
// numbers again, the next one must not take for lost what it received.
func TestExactNumbersAreExactOnce(t *testing.T) {
	state := filepath.Join(t.TempDir(), "streams.json")
	_, where, _, err := start(t, "127.0.0.1:0", state, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := collectorBed(t, Options{State: state, Listens: []Listen{{Address: where, Sockets: 1, Buffer: 1 << 20, Streams: 10}}}, 0, NamedOutput{"out", &slowOutput{full: true}})
	defer c.Stop()
	if kept, err := os.ReadFile(state); err != nil || !strings.Contains(string(kept), `"version":1,"exact":false`) || !strings.Contains(string(kept), `"next":3`) {
		t.Errorf("%v: %s", err, kept)
	}
}

// TestNumbersMissingAtTheEnd count as lost: they come no more.
func TestNumbersMissingAtTheEnd(t *testing.T) {
	c, _ := collectorBed(t, Options{Listens: []Listen{{Address: "127.0.0.1:0", Sockets: 1, Buffer: 1 << 20, Streams: 10}}}, 0, NamedOutput{"out", &slowOutput{full: true}})
	send(t, c, 1, 2, 5)
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if s := c.Snapshot(); s.Records[record.Gap] != 1 || s.Listens[0].Streams[0].Lost != 2 {
		t.Errorf("%d gap records, %d lost; want 1 and 2", s.Records[record.Gap], s.Listens[0].Streams[0].Lost)
	}
}

// TestNumbersContinue: the streams of the next process on the same address continue the numbers of the
// one before; without its file, or on another address, they begin anew.
func TestNumbersContinue(t *testing.T) {
	const last = 1<<22 - 1 // the numbers of a packet have 22 bits
	state := filepath.Join(t.TempDir(), "streams.json")
	extended, where, log, err := start(t, "127.0.0.1:0", state, last, 0)
	if err != nil || log != "" || len(extended) != 2 || extended[1] != extended[0]+1 {
		t.Fatalf("%v, %v, logged %q", err, extended, log)
	}
	kept, err := os.ReadFile(state)
	if err != nil || !strings.Contains(string(kept), `"version":1,"exact":true`) {
		t.Errorf("%v: %s", err, kept)
	}
	elsewhere := where
	for elsewhere == where {
		_, elsewhere, _, _ = start(t, "127.0.0.1:0", "")
	}
	for _, c := range []struct {
		name, address string
		contents      string
		want          uint64
		log           string
	}{
		{"on the same address", where, string(kept), extended[1] + 1, ""},
		{"on another address", elsewhere, string(kept), 1, ""},
		{"no JSON", where, "{", 1, "the streams begin anew"},
		{"another version", where, strings.Replace(string(kept), `"version":1`, `"version":2`, 1), 1, "the streams begin anew"},
		{"no file", where, "", 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			os.Remove(state)
			if c.contents != "" {
				os.WriteFile(state, []byte(c.contents), 0o600)
			}
			extended, _, log, err := start(t, c.address, state, 1)
			if err != nil || len(extended) != 1 || extended[0] != c.want || c.log == "" && log != "" || !strings.Contains(log, c.log) {
				t.Errorf("%v, %v, want %d, logged %q", err, extended, c.want, log)
			}
		})
	}
}

// TestNumbersThatCannotBeKept: Stop says so.
func TestNumbersThatCannotBeKept(t *testing.T) {
	_, _, _, err := start(t, "127.0.0.1:0", filepath.Join(t.TempDir(), "none", "streams.json"))
	if err == nil || !strings.HasPrefix(err.Error(), "the streams' numbers are not kept: ") {
		t.Errorf("error %v", err)
	}
}

// TestTicks: every ten seconds, stats records tell what has come, and the streams' numbers are kept,
// marked as ones after which packets may come; a gap is told as soon as it counts as lost.
func TestTicks(t *testing.T) {
	state := filepath.Join(t.TempDir(), "streams.json")
	c, said := collectorBed(t, Options{
		State: state, Listens: []Listen{{Address: "127.0.0.1:0", Sockets: 1, Buffer: 1 << 20, Streams: 10}},
	}, 0, NamedOutput{"out", &slowOutput{full: true}})
	defer c.Stop()
	send(t, c, 1, 2, 5)
	now := time.Now()
	stats := now.Add(statsPeriod)
	told := func(gaps, stats uint64) {
		t.Helper()
		if r := c.Snapshot().Records; r[record.Gap] != gaps || r[record.Stats] != stats {
			t.Errorf("%d gap and %d stats records, want %d and %d", r[record.Gap], r[record.Stats], gaps, stats)
		}
	}
	if next := c.tickAt(stats.Add(-1), stats); !next.Equal(stats) {
		t.Errorf("stats are due at %v, want %v", next, stats)
	}
	told(1, 0)
	if _, err := os.Stat(state); err == nil {
		t.Error("the numbers are kept before they are due")
	}
	if next := c.tickAt(stats, stats); !next.Equal(stats.Add(statsPeriod)) {
		t.Errorf("stats are due at %v, want %v", next, stats.Add(statsPeriod))
	}
	told(1, 1)
	if kept, err := os.ReadFile(state); err != nil || !strings.Contains(string(kept), `"version":1,"exact":false`) {
		t.Errorf("%v: %s", err, kept)
	}
	c.tickAt(stats, stats) // nothing is new
	told(1, 1)
	if text := said.take(); text != "" {
		t.Errorf("logged %q", text)
	}
	c.o.State = filepath.Join(state, "none")
	c.tickAt(stats, stats)
	if text := said.take(); !strings.Contains(text, "the streams' numbers are not kept") {
		t.Errorf("logged %q", text)
	}
	c.o.State = ""
}

// TestStopReadsTheSocketsEmpty: what the kernel has received when the collector is stopped is received.
func TestStopReadsTheSocketsEmpty(t *testing.T) {
	goOn := make(chan struct{})
	c, _ := collectorBed(t, Options{
		Listens: []Listen{{Address: "127.0.0.1:0", Sockets: 1, Buffer: 1 << 20, Streams: 10}},
		Observe: func() func(*record.Record) { return func(*record.Record) { <-goOn } }, // the receiver waits with its first datagrams
	}, 0, NamedOutput{"out", &slowOutput{full: true}})
	conn, err := net.Dial("udp", c.Addresses()[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const packets = 300
	for n := range uint32(packets) {
		if _, err := conn.Write(entryOf(n, 1).Payload); err != nil {
			t.Fatal(err)
		}
	}
	stopped := make(chan error, 1)
	go func() { stopped <- c.Stop() }()
	until(t, "the socket is to be read empty", func() bool { return c.listens[0].sockets[0].until.Load() > 0 })
	close(goOn)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if l := c.Snapshot().Listens[0]; l.Packets != packets {
		t.Errorf("%d of %d packets are received", l.Packets, packets)
	}
}

// TestResumedStreamsKnowWhen: of a process that was killed, the log has the numbers and the file when packets came. What is missing when
// the next process begins came to another collector since then, not since that process began.
func TestResumedStreamsKnowWhen(t *testing.T) {
	_, where, _, _ := start(t, "127.0.0.1:0", "")
	dir := t.TempDir()
	state := filepath.Join(dir, "streams.json")
	s, err := spool.Open(spool.Options{Directory: dir, Size: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now().Add(-time.Minute).UnixNano()
	seen := began + 50e9
	for n := range uint32(20) {
		e := entryOf(n, 1)
		e.From, e.To, e.Start, e.Received = netip.MustParseAddrPort("127.0.0.1:9"), netip.MustParseAddrPort(where), began, seen
		s.Append([]spool.Entry{e})
	}
	s.Close()
	for _, kept := range []int64{seen, 0} { // 0: the stream is younger than the file
		want := began
		os.Remove(state)
		if kept > 0 {
			want = kept
			os.WriteFile(state, fmt.Appendf(nil, `{"version":1,"streams":[{"exporter":"127.0.0.1","collector":%q,"node_id":3,"hw_id":5,"version":2,"start":%d,"next":10,"seen":%d}]}`, where, began, seen), 0o600)
		}
		s, err := spool.Open(spool.Options{Directory: dir, Size: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		c, _ := collectorBed(t, Options{Spool: s, State: state, Listens: []Listen{{Address: where, Sockets: 1, Buffer: 1 << 20, Streams: 10}}}, 0, NamedOutput{"out", &slowOutput{full: true}})
		if all := c.listens[0].streams.States(); len(all) != 1 || all[0].Next != 20 || all[0].Seen != want {
			t.Errorf("%+v, want 20 and %d", all, want)
		}
		c.Stop()
		s.Close()
	}
}

// clockDecoder has one record a packet, of a sink whose clock is behind by so much.
type clockDecoder struct{ behind *time.Duration }

func (d clockDecoder) Records(packet []byte, o *record.Origin, yield func(*record.Record)) (int, error) {
	yield(&record.Record{Version: record.Version20, Received: o.Received, Time: o.Received - int64(*d.behind)})
	return 1, nil
}

// TestWrongClock: the records of a sink whose clock is wrong stand where nobody looks for them. The log says so once, and again when it was
// right meanwhile; the counters say by how much.
func TestWrongClock(t *testing.T) {
	behind := 2 * time.Millisecond
	c, said := collectorBed(t, Options{
		Decoder: func() Decoder { return clockDecoder{&behind} },
		Listens: []Listen{{Address: "127.0.0.1:0", Sockets: 1, Buffer: 1 << 20, Streams: 10}},
	}, 0, NamedOutput{"out", &slowOutput{full: true}})
	defer c.Stop()
	number := uint32(0)
	for _, step := range []struct {
		behind time.Duration
		want   string
	}{{2 * time.Millisecond, ""}, {3 * time.Hour, "behind=3h0m0s"}, {3 * time.Hour, ""}, {0, ""}, {-2 * time.Minute, "behind=-2m0s"}} {
		behind = step.behind
		number++
		conn, err := net.Dial("udp", c.Addresses()[0].String())
		if err != nil {
			t.Fatal(err)
		}
		conn.Write(entryOf(number, 1).Payload)
		conn.Close()
		until(t, "the packet is taken", func() bool { return c.Snapshot().Listens[0].Packets == uint64(number) })
		c.tell()
		if got := c.Snapshot().Listens[0].Streams[0].Behind; (got - step.behind).Abs() > time.Second {
			t.Errorf("behind by %v, want %v", got, step.behind)
		}
		if text := said.take(); (text != "") != (step.want != "") || !strings.Contains(text, step.want) || step.want != "" && !strings.Contains(text, "node_id=3") {
			t.Errorf("behind by %v: logged %q, want %q", step.behind, text, step.want)
		}
	}
}
