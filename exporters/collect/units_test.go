package collect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"intsink/exporters/collect/spool"
	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

// TestExporterLimit: an exporter may send as many packets a second as the limit says, and as many at
// once after a second's silence; each exporter for itself.
func TestExporterLimit(t *testing.T) {
	a, b, c := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.3")
	e := newExporters(4, 2)
	burst := func(from netip.Addr, at time.Duration) (n int) {
		for e.take(from, int64(at), 1) {
			n++
		}
		return n
	}
	for _, step := range []struct {
		from netip.Addr
		at   time.Duration
		want int
	}{
		{a, 5 * time.Second, 4},
		{b, 5 * time.Second, 4},
		{a, 5*time.Second + 250*time.Millisecond - 1, 0},
		{a, 5*time.Second + 250*time.Millisecond, 1},
		{a, 6 * time.Second, 3},
		{a, 20 * time.Second, 4}, // never more than a second's
		{c, 20 * time.Second, 4}, // the third exporter: the others are forgotten
		{a, 20 * time.Second, 4},
	} {
		if n := burst(step.from, step.at); n != step.want {
			t.Errorf("%v at %v: %d packets, want %d", step.from, step.at, n, step.want)
		}
	}
	if len(e.buckets) != 2 {
		t.Errorf("%d exporters are kept", len(e.buckets))
	}
	full := newExporters(4, 1)
	for _, step := range []struct {
		at   time.Duration
		n    float64
		want bool
	}{
		{0, packets(16384), true}, // as many as a good sink sends in seconds
		{time.Second, 1, false},
		{255 * time.Second, 1, false}, // 1024 packets' worth at 4 a second
		{257 * time.Second, packets(20), true},
	} {
		if got := full.take(a, int64(step.at), step.n); got != step.want {
			t.Errorf("at %v a packet of %v: %v", step.at, step.n, got)
		}
	}
	free := newExporters(0, 1)
	for range 1000 {
		if !free.take(a, 0, 1) {
			t.Fatal("limited without a limit")
		}
	}
	prefixes := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.2/32")}
	if !allows(nil, a) || allows(prefixes, a) || !allows(prefixes, b) {
		t.Error("the prefixes are not kept to")
	}
}

// TestLogSaysWhatItLeftOut: the first line of a message after a period says how many were left out.
func TestLogSaysWhatItLeftOut(t *testing.T) {
	said := &logged{}
	now := time.Unix(0, 0)
	l := NewLog(slog.New(slog.NewTextHandler(said, nil)))
	l.clock = func() time.Time { return now }
	for n := range logLines + 7 {
		l.Say("one", "k", n)
	}
	if text := said.take(); strings.Count(text, "msg=one k=") != logLines || strings.Contains(text, "left_out") {
		t.Errorf("logged %q", text)
	}
	now = now.Add(logPeriod - 1)
	l.Say("one")
	if text := said.take(); text != "" {
		t.Errorf("logged %q", text)
	}
	now = now.Add(1)
	for i, want := range []string{"msg=one k=0 left_out_before=8\n", "msg=one k=1\n", "msg=one k=2\n", ""} {
		l.Say("one", "k", i)
		if text := said.take(); !strings.HasSuffix(text, want) || want == "" && text != "" {
			t.Errorf("line %d: %q, want %q", i, text, want)
		}
	}
	now = now.Add(logPeriod)
	l.Say("one")
	now = now.Add(logPeriod)
	l.Say("one")
	if text := said.take(); strings.Count(text, "left_out_before=1\n") != 1 || strings.Count(text, "\n") != 2 {
		t.Errorf("logged %q", text)
	}
}

// TestFlowHash: both directions of a flow have one hash, other flows have others.
func TestFlowHash(t *testing.T) {
	flow := func(change func(r *record.Record)) uint64 {
		r := record.Record{Known: record.KnownAddresses, Protocol: 6, SourcePort: 1, DestinationPort: 2,
			Source: netip.MustParseAddr("192.0.2.1"), Destination: netip.MustParseAddr("192.0.2.2")}
		change(&r)
		return flowHash(&r)
	}
	one := flow(func(*record.Record) {})
	if back := flow(func(r *record.Record) {
		r.Source, r.Destination, r.SourcePort, r.DestinationPort = r.Destination, r.Source, r.DestinationPort, r.SourcePort
	}); back != one || one == 0 {
		t.Errorf("%x, and %x backwards", one, back)
	}
	if one != 0x9a0adcf0b47cf604 { // a new version must not move flows to other partitions
		t.Errorf("the flow's hash is %#x now", one)
	}
	seen := map[uint64]bool{one: true}
	for i, change := range []func(*record.Record){
		func(r *record.Record) { r.Protocol = 17 },
		func(r *record.Record) { r.SourcePort = 0x101 },
		func(r *record.Record) { r.DestinationPort = 0x102 },
		func(r *record.Record) { r.SourcePort, r.DestinationPort = 2, 1 },
		func(r *record.Record) { r.Source = netip.MustParseAddr("192.0.2.3") },
		func(r *record.Record) { r.Destination = netip.MustParseAddr("193.0.2.2") },
		func(r *record.Record) { r.Destination = netip.MustParseAddr("2001:db8::1") },
		func(r *record.Record) { r.Known = 0 },
	} {
		h := flow(change)
		if seen[h] || (h == 0) != (i == 7) {
			t.Errorf("flow %d has hash %x", i, h)
		}
		seen[h] = true
	}
}

// TestBatchContents: records, entries and keys of a batch; a batch that comes from a pool is empty.
func TestBatchContents(t *testing.T) {
	m := newMaker(fewDecoder{}, nil)
	var observed int
	m.observe = func(*record.Record) { observed++ }
	for range 3 { // a batch of the pool from the second time on
		b := m.newBatch(24)
		if n := m.packet(b, entryOf(1, 2), 1<<JSON|1<<Protobuf); n != 2 {
			t.Fatalf("%d records", n)
		}
		if n := m.packet(b, entryOf(2, 0), 1<<JSON|1<<Protobuf); n != 0 {
			t.Fatalf("%d records", n)
		}
		other := entryOf(3, 1)
		other.Payload[7] = 9
		m.packet(b, other, 1<<JSON)
		m.seal(b)
		if b.Len() != 3 || len(b.entries) != 2 || len(b.raw) != 24 || b.entries[0].Records != 2 || b.entries[1].Sequence != 3 {
			t.Fatalf("%d records of %d entries", b.Len(), len(b.entries))
		}
		for i, want := range []string{`"index":0`, `"index":1`, `"node_id":9`} {
			text := string(b.Record(JSON, i))
			if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") || !strings.Contains(text, want) {
				t.Errorf("record %d: %s", i, text)
			}
			if (len(b.Record(Protobuf, i)) == 0) != (i == 2) {
				t.Errorf("record %d has %d bytes", i, len(b.Record(Protobuf, i)))
			}
		}
		if lines := string(b.Bytes(JSON, 1, 3)); strings.Count(lines, "\n") != 2 || strings.Contains(lines, `"index":0,"node_id":3`) {
			t.Errorf("records 1 and 2: %s", lines)
		}
		if len(b.Bytes(JSON, 0, 0)) != 0 || b.Node(0) != 3 || b.Node(2) != 9 {
			t.Errorf("nodes %d, %d", b.Node(0), b.Node(2))
		}
		if _, ok := b.Flow(0); ok {
			t.Error("a record without addresses has a flow")
		}
		m.packet(b, entryOf(4, 1), 1<<Protobuf)
		if len(b.Bytes(JSON, 3, 4)) != 0 || len(b.Bytes(Protobuf, 3, 4)) == 0 {
			t.Error("a record is not in the format that was asked for, or in another one, too")
		}
		m.seal(b)
		if b.bytes != b.room() || b.refs.Load() != 1 {
			t.Errorf("counts for %d bytes, has room for %d, %d hold it", b.bytes, b.room(), b.refs.Load())
		}
		b.release()
	}
	if observed != 12 {
		t.Errorf("%d records observed", observed)
	}
}

// TestRoomIsSummed: a batch counts with all memory that its slices have.
func TestRoomIsSummed(t *testing.T) {
	b := &Batch{raw: make([]byte, 0, 1000), entries: make([]spool.Entry, 0, 3), items: make([]item, 0, 5)}
	b.encoded[JSON], b.encoded[Protobuf] = make([]byte, 0, 700), make([]byte, 0, 30)
	want := overhead + 1000 + 3*int(unsafe.Sizeof(spool.Entry{})) + 5*int(unsafe.Sizeof(item{})) + 730
	if b.room() != want {
		t.Errorf("%d bytes, want %d", b.room(), want)
	}
	m := newMaker(nil, nil)
	b.raw, b.entries, b.items, b.encoded[JSON] = b.raw[:100], b.entries[:1], b.items[:2], b.encoded[JSON][:400]
	m.seal(b)
	if want := (100 + float64(unsafe.Sizeof(spool.Entry{})) + 2*float64(unsafe.Sizeof(item{})) + 400) / 100; m.growth != want || b.bytes == 0 {
		t.Errorf("growth %v, want %v", m.growth, want)
	}
	before := m.growth
	m.seal(&Batch{})
	if m.growth != before {
		t.Error("a batch without packets changes the growth")
	}
}

// TestControlMessages: the time of receipt and the count of overflows are read from what the kernel
// writes; messages that are cut or of other kinds are passed over.
func TestControlMessages(t *testing.T) {
	message := func(level, kind uint32, data ...uint64) []byte {
		b := binary.NativeEndian.AppendUint64(nil, uint64(unix.SizeofCmsghdr+8*len(data)))
		b = binary.NativeEndian.AppendUint32(b, level)
		b = binary.NativeEndian.AppendUint32(b, kind)
		for _, x := range data {
			b = binary.NativeEndian.AppendUint64(b, x)
		}
		return b
	}
	stamp := message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1700000000, 5)
	overflow := message(unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 7)
	binary.NativeEndian.PutUint64(overflow, unix.SizeofCmsghdr+4)
	const at = 1700000000e9 + 5
	long := slices.Clone(stamp)
	binary.NativeEndian.PutUint64(long, uint64(len(long)+1))
	short := slices.Clone(stamp)
	binary.NativeEndian.PutUint64(short, unix.SizeofCmsghdr-1)
	for _, c := range []struct {
		name    string
		control []byte
		arrived int64 // 0: now
		lost    uint64
	}{
		{"both", append(slices.Clone(stamp), overflow...), at, 7},
		{"the other order", append(slices.Clone(overflow), stamp...), at, 7},
		{"none", nil, 0, 0},
		{"another level", append(message(unix.SOL_IP, unix.SO_TIMESTAMPNS, 1, 2), overflow...), 0, 7},
		{"another kind", append(message(unix.SOL_SOCKET, 1, 1, 2), stamp...), at, 0},
		{"of another level and the kind of overflows", message(unix.SOL_IP, unix.SO_RXQ_OVFL, 7), 0, 0},
		{"without data", append(message(unix.SOL_SOCKET, unix.SO_RXQ_OVFL), stamp...), at, 0},
		{"a short time", append(message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1), overflow...), 0, 7},
		{"longer than there is", long, 0, 0},
		{"shorter than its header", append(short, stamp...), 0, 0},
		{"cut in the header", stamp[:unix.SizeofCmsghdr-1], 0, 0},
		{"a header only", message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &socket{space: make([]byte, perCall*slot)}
			copy(s.controls[1][:], c.control)
			s.headers[1].hdr.SetControllen(len(c.control))
			s.headers[1].n = 3
			s.space[slot] = 42
			s.out[1].arrived = 1 // of the datagram before in this place
			s.names[1] = unix.RawSockaddrInet6{Family: unix.AF_INET6, Port: 0x0102, Addr: netip.MustParseAddr("::ffff:192.0.2.1").As16()}
			before := time.Now().UnixNano()
			s.read(1)
			d := s.out[1]
			if c.arrived != 0 && d.arrived != c.arrived || c.arrived == 0 && (d.arrived < before || d.arrived > time.Now().UnixNano()) || s.lost != c.lost {
				t.Errorf("arrived at %d, %d lost", d.arrived, s.lost)
			}
			if len(d.payload) != 3 || d.payload[0] != 42 || d.from != netip.MustParseAddrPort("192.0.2.1:513") {
				t.Errorf("%v from %v", d.payload, d.from)
			}
		})
	}
	s := &socket{space: make([]byte, perCall*slot), overflows: 1<<32 - 3, lost: 10}
	copy(s.controls[0][:], overflow)
	s.headers[0].hdr.SetControllen(len(overflow))
	s.read(0) // the kernel's count has wrapped
	if s.lost != 20 || s.overflows != 7 {
		t.Errorf("%d lost", s.lost)
	}
}

// TestChosenPortsAreNotShared: of many ports that the kernel chose no two are the same, although
// each could be shared.
func TestChosenPortsAreNotShared(t *testing.T) {
	by := map[netip.AddrPort]bool{}
	for range 600 { // by chance 6 of them would be shared
		all, err := openSockets("127.0.0.1:0", 1, 1<<12, false)
		if err != nil {
			t.Fatal(err)
		}
		s := all[0]
		defer s.Close()
		s.space = nil // gives its memory back
		if by[s.local] {
			t.Fatalf("%v is chosen twice", s.local)
		}
		by[s.local] = true
	}
}

// TestOneCollectorAnAddress: who has the address, or all of one, is named, whatever its sockets share; with
// share both have it.
func TestOneCollectorAnAddress(t *testing.T) {
	first, err := openSockets("127.0.0.1:0", 2, 1<<16, false)
	if err != nil {
		t.Fatal(err)
	}
	closeAll := func(all []*socket) {
		for _, s := range all {
			s.Close()
		}
	}
	address := first[0].local.String()
	for _, second := range []string{address, fmt.Sprintf("0.0.0.0:%d", first[0].local.Port())} {
		all, err := openSockets(second, 2, 1<<16, false)
		closeAll(all)
		if err == nil || !errors.Is(err, unix.EADDRINUSE) || !strings.Contains(err.Error(), fmt.Sprintf(" by process %d;", os.Getpid())) {
			t.Errorf("%s: error %v", second, err)
		}
	}
	closeAll(first)
	shared, err := openSockets(address, 2, 1<<16, true)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(shared)
	too, err := openSockets(address, 2, 1<<16, true)
	closeAll(too)
	if err != nil {
		t.Errorf("with share: %v", err)
	}
	if alone, err := openSockets(address, 1, 1<<16, false); err == nil {
		closeAll(alone)
		t.Error("one that does not share has the address of those that do")
	}
}

// TestSockets: several sockets share an address, whose port the kernel may choose; a datagram comes
// with its source and the time of its receipt.
func TestSockets(t *testing.T) {
	all, err := openSockets("127.0.0.1:0", 3, 1<<20, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.local != all[0].local || s.local.Port() == 0 || s.buffer < 1<<20 || s.buffer >= 2<<20 {
			t.Errorf("%v with %d bytes", s.local, s.buffer)
		}
	}
	if _, err := openSockets("127.0.0.1:no", 1, 1<<20, false); err == nil || !strings.HasPrefix(err.Error(), "listen 127.0.0.1:no: ") || !strings.Contains(err.Error(), "a free UDP port") {
		t.Errorf("error %v", err)
	}
	for _, s := range all[1:] {
		s.Close()
	}
	conn, err := net.Dial("udp", all[0].local.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	before := time.Now().UnixNano()
	conn.Write([]byte("hello"))
	got, err := all[0].receive()
	if err != nil || len(got) != 1 || string(got[0].payload) != "hello" || got[0].from.String() != conn.LocalAddr().String() {
		t.Fatalf("%v, %+v", err, got)
	}
	if at := got[0].arrived; at < before-1e9 || at > time.Now().UnixNano() {
		t.Errorf("received at %d, sent at %d", at, before)
	}
	until(t, "a datagram has the time when the kernel got it, not that of the call", func() bool {
		conn.Write([]byte("hello"))
		written := time.Now().UnixNano()
		got, err := all[0].receive()
		return err == nil && len(got) == 1 && got[0].arrived <= written
	})
	all[0].Close()
	if _, err := all[0].receive(); err == nil {
		t.Error("received from a closed socket")
	}
}

// TestSocketsWaitForMore: a socket that was read empty is left alone for a moment, and then has what came meanwhile; one whose buffer
// is small is not.
func TestSocketsWaitForMore(t *testing.T) {
	all, err := openSockets("127.0.0.1:0", 1, 1<<20, false)
	if err != nil {
		t.Fatal(err)
	}
	s := all[0]
	defer s.Close()
	conn, err := net.Dial("udp", s.local.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	again := func() time.Duration {
		began := time.Now()
		conn.Write([]byte("hello"))
		if got, err := s.receive(); err != nil || len(got) != 1 {
			t.Fatalf("%v, %+v", err, got)
		}
		return time.Since(began)
	}
	again()
	until(t, "a small buffer is read at once", func() bool { return again() < pause })
	s.buffer = pauseRoom
	if took := again(); took < pause {
		t.Errorf("read again after %v", took)
	}
	s.until.Store(1)
	until(t, "the end is not waited for", func() bool { return again() < pause })
}

// TestLargeReceiveBuffers: with CAP_NET_ADMIN a socket gets a larger buffer than the system's limit.
func TestLargeReceiveBuffers(t *testing.T) {
	limit := 0
	text, err := os.ReadFile("/proc/sys/net/core/rmem_max")
	if err == nil {
		_, err = fmt.Sscan(string(text), &limit)
	}
	if err != nil {
		t.Fatal(err)
	}
	all, err := openSockets("127.0.0.1:0", 1, 2*limit, false)
	if err != nil {
		t.Fatal(err)
	}
	defer all[0].Close()
	if all[0].buffer != 2*limit {
		t.Errorf("a buffer of %d bytes, want %d: this test needs root", all[0].buffer, 2*limit)
	}
}

// TestOverflows: what a socket's buffer had no room for is counted once.
func TestOverflows(t *testing.T) {
	c := &Collector{began: time.Now()}
	l, s := newListen(Listen{Streams: 1}), &socket{lost: 5}
	c.admit(l, s, nil, nil, nil, nil)
	c.admit(l, s, nil, nil, nil, nil)
	s.lost = 2
	c.admit(l, s, nil, nil, nil, nil)
	if l.overflows != 7 || s.lost != 0 {
		t.Errorf("%d lost, %d not counted yet", l.overflows, s.lost)
	}
}

// TestReceiveErrors: an error of a socket is logged, and receiving goes on.
func TestReceiveErrors(t *testing.T) {
	all, err := openSockets("127.0.0.1:0", 2, 1<<20, false)
	if err != nil {
		t.Fatal(err)
	}
	s, closed := all[0], &unix.SockaddrInet4{Port: 1, Addr: [4]byte{127, 0, 0, 1}}
	all[1].Close()
	s.raw.Control(func(fd uintptr) {
		if err = unix.Connect(int(fd), closed); err == nil {
			_, err = unix.Write(int(fd), []byte("hello")) // the answer is that nobody listens
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	said := &logged{}
	c := &Collector{log: NewLog(slog.New(slog.NewTextHandler(said, nil))), o: Options{Decoder: func() Decoder { return fewDecoder{} }}}
	c.sockets.Add(1)
	go c.receive(newListen(Listen{Address: "reports", Streams: 1}), s)
	text := ""
	until(t, "the error is logged", func() bool { text += said.take(); return text != "" })
	if !strings.Contains(text, `msg="nothing received" listen=reports err="recvmmsg: connection refused"`) {
		t.Errorf("logged %q", text)
	}
	s.Close()
	c.sockets.Wait()
}

// TestStatsTellWhatIsNew: a stats record has what has come since the one before, and a stream with
// nothing new has none.
func TestStatsTellWhatIsNew(t *testing.T) {
	s := &streams.Stream{Counts: streams.Counts{Received: 10, Lost: 5, Late: 1, Repeated: 2, Undecodable: 3}}
	if d := since(s); d != (record.StreamStats{Received: 10, Lost: 5, Late: 3, Undecodable: 3}) {
		t.Errorf("%+v", d)
	}
	if d := since(s); d != (record.StreamStats{}) {
		t.Errorf("%+v", d)
	}
	s.Counts = streams.Counts{Received: 21, Lost: 6, Late: 3, Repeated: 6, Undecodable: 7}
	if d := since(s); d != (record.StreamStats{Received: 11, Lost: 1, Late: 6, Undecodable: 4}) {
		t.Errorf("%+v", d)
	}
}

// TestStatsOfAStreamThatReturns: a stream that made room for another one and comes back begins at zero:
// its stats records do not reckon with what was told of it before.
func TestStatsOfAStreamThatReturns(t *testing.T) {
	const hour = int64(3600e9)
	l := newListen(Listen{Streams: 1})
	see := func(node, packets uint32, monotonic int64) {
		t.Helper()
		h := streams.Header{Node: node, Version: 2}
		times := streams.Times{Arrived: monotonic, Monotonic: monotonic}
		s := l.streams.Find(streams.Key{Node: node, Version: 2}, h, times)
		if s == nil {
			t.Fatal("no idle stream makes room")
		}
		for h.Sequence = range packets {
			s.See(h, times, func(streams.Gap) {})
		}
		if d := since(s); d != (record.StreamStats{Received: uint64(packets)}) {
			t.Errorf("node %d: %+v, want %d received", node, d, packets)
		}
	}
	see(1, 10, 0)
	see(2, 5, hour)
	see(1, 3, 2*hour)
}

// collectorBed starts a collector with outputs and options of the test, on a spool if size is above 0.
func collectorBed(t *testing.T, o Options, size int64, outputs ...NamedOutput) (*Collector, *logged) {
	t.Helper()
	said := &logged{}
	o.Log = NewLog(slog.New(slog.NewTextHandler(said, nil)))
	if o.Decoder == nil {
		o.Decoder = func() Decoder { return fewDecoder{} }
	}
	o.Outputs, o.Flush = outputs, 10*time.Millisecond
	if size > 0 && o.Spool == nil {
		s, err := spool.Open(spool.Options{Directory: t.TempDir(), Size: size})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		o.Spool = s
	}
	return Start(o), said
}

// until waits until done returns true.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for: %s", what)
		}
	}
}

// TestOutputsThatAreNoLongerConfigured: they end, what the spool holds for them is given up and logged,
// and the others go on.
func TestOutputsThatAreNoLongerConfigured(t *testing.T) {
	dir := t.TempDir()
	s, err := spool.Open(spool.Options{Directory: dir, Size: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Reader("gone")
	s.Append([]spool.Entry{entryOf(1, 2)})
	s.Reader("empty")
	stays, goes := &slowOutput{full: true}, &slowOutput{full: true}
	c, said := collectorBed(t, Options{Spool: s}, 0, NamedOutput{"stays", stays}, NamedOutput{"goes", goes})
	if text := said.take(); strings.Count(text, "given up\" output=gone records=2") != 1 || strings.Contains(text, "output=empty") {
		t.Errorf("logged %q", text)
	}
	names := func() []string {
		all := s.Outputs()
		slices.Sort(all)
		return all
	}
	if got := names(); !slices.Equal(got, []string{"goes", "stays"}) {
		t.Errorf("outputs %v", got)
	}
	feed := c.feeds[0]
	c.SetOutputs([]NamedOutput{{"stays", nil}})
	until(t, "the output ends", func() bool { return len(names()) == 1 })
	if len(c.feeds) != 1 || c.feeds[0] != feed || stays.closed != 0 || goes.closed != 1 || goes.flushed != 1 {
		t.Errorf("%d outputs, closed %d and %d times", len(c.feeds), stays.closed, goes.closed)
	}
	next := &slowOutput{format: Protobuf, full: true}
	c.SetOutputs([]NamedOutput{{"stays", next}})
	if f := c.formats(); f != 1<<Protobuf {
		t.Errorf("formats %b", f)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if stays.closed != 1 || next.closed != 1 {
		t.Errorf("closed %d and %d times", stays.closed, next.closed)
	}
}

// stuckOutput is an output that takes nothing, and whose Close takes until the test lets it end.
type stuckOutput struct {
	slowOutput
	closing, ends chan struct{}
}

func (o *stuckOutput) Close() error {
	close(o.closing)
	<-o.ends
	return nil
}

// TestOutputThatComesBackWhileItEnds: it starts when the one before has ended, with a place of its own in
// the spool. Others get records meanwhile, and another change of the outputs does not give up the place of
// one that still uses it. Of what comes later, each record is delivered or counted.
func TestOutputThatComesBackWhileItEnds(t *testing.T) {
	stuck := &stuckOutput{slowOutput{full: true}, make(chan struct{}), make(chan struct{})}
	stays, back := &sizesOutput{}, &roomOutput{}
	c, said := collectorBed(t, Options{Recent: 1}, 1<<30, NamedOutput{"out", stuck}, NamedOutput{"stays", stays})
	b := newFeedBed(t)
	push := func(from, to uint32) {
		t.Helper()
		for n := from; n < to; n++ {
			batch := b.batch(n, 2)
			c.mu.Lock()
			c.push(batch)
			c.mu.Unlock()
			batch.release()
		}
	}
	delivered := func(name string, n uint64) {
		t.Helper()
		until(t, name+" has its records", func() bool {
			all := c.Snapshot().Outputs
			i := slices.IndexFunc(all, func(o OutputSnapshot) bool { return o.Name == name })
			return all[i].Balanced() && all[i].Delivered == n
		})
	}
	push(0, 10)
	delivered("stays", 20)
	c.SetOutputs([]NamedOutput{{"stays", nil}})
	<-stuck.closing
	c.SetOutputs([]NamedOutput{{"stays", nil}})
	if !slices.Contains(c.o.Spool.Outputs(), "out") {
		t.Error("the place of an output that still ends was given up")
	}
	set := make(chan struct{})
	go func() {
		c.SetOutputs([]NamedOutput{{"stays", nil}, {"out", back}})
		close(set)
	}()
	text := ""
	until(t, "the end is waited for", func() bool { text += said.take(); return strings.Contains(text, "comes back while it ends") })
	push(10, 20)
	delivered("stays", 40)
	if n := len(c.Snapshot().Outputs); n != 1 {
		t.Errorf("%d outputs while one ends", n)
	}
	close(stuck.ends)
	<-set
	push(20, 120) // it has no room: they go to the spool
	if o := c.Snapshot().Outputs[1]; o.Taken != 200 || o.Waiting == 0 || !o.Balanced() {
		t.Errorf("%+v", o)
	}
	back.open.Store(true)
	delivered("out", 200)
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if o := c.Snapshot().Outputs[1]; o.Accounts != (Accounts{Taken: 200, Delivered: 200}) || !slices.IsSorted(back.sequences) {
		t.Errorf("%+v", o)
	}
}

// roomOutput is a sizesOutput that has room when it is open.
type roomOutput struct {
	sizesOutput
	open atomic.Bool
}

func (o *roomOutput) Room(int, int) bool { return o.open.Load() }
