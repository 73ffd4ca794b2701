//go:build engines

package collect

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"intsink/engine/wire/report/reporttest"
	"intsink/exporters/collect/streams"
	"intsink/exporters/record/nativetest"
)

// sinks is how many sinks send in TestSums.
const sinks = 3

// day is a collector with outputs that fail, and what was sent to it.
type day struct {
	t      *testing.T
	r      *rand.Rand
	dir    string
	config string
	p      *process
	conn   net.Conn
	forged net.Conn
	stores []*shakyStore
	next   [sinks]uint32
	sent   [sinks]map[uint32]bool // by number; false: lost on the way, and never sent
	late   [sinks]map[uint32]bool // sent behind later ones
	held   []held
	full   bool // the spool's disk is
	deeds  []string
}

// held is a report packet that comes late.
type held struct {
	sink int
	n    uint32
}

// shakyStore takes blocks as ClickHouse does, or fails as it is told: refuses, is silent, or fails when it has stored.
type shakyStore struct {
	*httptest.Server
	mu    sync.Mutex
	mode  int
	rows  []row
	doubt []row // stored, though the collector cannot know: it was answered an error, or killed
}

// row has the fields of a record that the sums need.
type row struct {
	Type     string `json:"type"`
	Node     uint32 `json:"node_id"`
	Exporter string `json:"exporter"`
	ID       string `json:"id"` // node, hw_id, start and more
	Sequence uint64 `json:"sequence"`
	First    uint64 `json:"first"`
	Last     uint64 `json:"last"`

	at time.Time // of the insert
}

const (
	well = iota
	refuses
	silent
	failsAfter
	modes
)

func (s *shakyStore) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	mode := s.mode
	s.mu.Unlock()
	var rows []row
	texts, err := nativetest.Inserted(req.Body)
	for _, text := range texts {
		var x row
		err = errors.Join(err, json.Unmarshal(text, &x))
		rows = append(rows, x)
	}
	if err != nil { // a question, or the client ended in the middle
		http.Error(w, "no whole block", http.StatusBadRequest)
		return
	}
	switch mode {
	case refuses:
		http.Error(w, "away", http.StatusServiceUnavailable)
		return
	case silent:
		select {
		case <-req.Context().Done():
		case <-time.After(5 * time.Second):
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range rows {
		rows[i].at = time.Now()
	}
	s.rows = append(s.rows, rows...)
	if mode == failsAfter {
		s.doubt = append(s.doubt, rows...)
		http.Error(w, "stored, and away", http.StatusInternalServerError)
	}
}

func (s *shakyStore) set(mode int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode
}

func rowsOf(r io.Reader) (all []row, err error) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		var x row
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// noted is how long it takes at most until the collector has written the positions of what is acknowledged.
const noted = 1400 * time.Millisecond

// doubtful takes note of what was stored though the collector, which was killed, may not have written so: the rows of the
// latest time, and where it had not yet had all answers (behind), which wait for each other, of a longer one.
func (s *shakyStore) doubtful(behind bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := time.Now().Add(-noted)
	if behind {
		since = since.Add(-20 * time.Second)
	}
	for _, x := range s.rows {
		if x.at.After(since) {
			s.doubt = append(s.doubt, x)
		}
	}
}

func newDay(t *testing.T, seed uint64) *day {
	d := &day{t: t, r: rand.New(rand.NewPCG(seed, 41)), dir: t.TempDir()}
	disk := filepath.Join(d.dir, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=24m"); err != nil {
		t.Fatalf("%v: this test mounts a tmpfs and needs root", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	rest := "spool {\n  directory = \"disk/spool\"\n  size = \"16MiB\"\n  replay = 0\n}\nfile \"archive\" {\n  path = \"archive.jsonl\"\n  rotate = \"1MiB\"\n  keep = 999\n}\n"
	for i := range 2 {
		s := &shakyStore{}
		s.Server = httptest.NewServer(s)
		t.Cleanup(s.Close)
		d.stores = append(d.stores, s)
		rest += fmt.Sprintf("clickhouse \"c%d\" {\n  url = \"%s/?table=t\"\n  rows = 300\n  wait = \"50ms\"\n  timeout = \"1s\"\n}\n", i, s.URL)
	}
	d.config = configure(t, d.dir, rest)
	text, _ := os.ReadFile(d.config)
	write(t, d.config, strings.Replace(string(text), "receive_buffer", "allow          = [\"127.0.0.0/26\"]\n  receive_buffer", 1))
	for i := range sinks {
		d.sent[i], d.late[i] = map[uint32]bool{}, map[uint32]bool{}
	}
	d.start()
	return d
}

func (d *day) start() {
	d.t.Helper()
	d.p = launch(d.t, d.config)
	d.conn = d.dial("127.0.0.1:0")
	d.forged = d.dial("127.0.0.66:0")
}

func (d *day) dial(from string) net.Conn {
	d.t.Helper()
	to, err := net.ResolveUDPAddr("udp", d.p.reports)
	if err != nil {
		d.t.Fatal(err)
	}
	own, err := net.ResolveUDPAddr("udp", from)
	if err != nil {
		d.t.Fatal(err)
	}
	conn, err := net.DialUDP("udp", own, to)
	if err != nil {
		d.t.Fatal(err)
	}
	return conn
}

func (d *day) packet(sink int, n uint32) []byte {
	b := reporttest.Packet(d.t, n, 1)
	binary.BigEndian.PutUint32(b[4:], uint32(sink+1))
	return b
}

// send sends so many report packets: some are lost, come twice, or late, and forged ones come between them.
func (d *day) send(packets int) {
	for range packets {
		sink := d.r.IntN(sinks)
		n := d.next[sink]
		d.next[sink]++
		switch x := d.r.IntN(200); {
		case x < 2 && n > 0:
			d.sent[sink][n] = false
			continue
		case x < 4 && n > 0:
			d.held = append(d.held, held{sink, n})
			continue
		case x < 6:
			d.conn.Write(d.packet(sink, n))
		case x < 8:
			d.forged.Write(d.packet(sink, n+1000))
		case x < 10:
			d.conn.Write([]byte("neither a report nor anything else"))
		}
		d.sent[sink][n] = true
		d.conn.Write(d.packet(sink, n))
		if d.r.IntN(50) == 0 {
			d.sendHeld()
		}
		if d.r.IntN(20) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

// one sends one packet of each sink: what is missing in front of it shows.
func (d *day) one() {
	for sink := range sinks {
		d.sent[sink][d.next[sink]] = true
		d.conn.Write(d.packet(sink, d.next[sink]))
		d.next[sink]++
	}
}

func (d *day) sendHeld() {
	for _, h := range d.held {
		d.sent[h.sink][h.n], d.late[h.sink][h.n] = true, true
		d.conn.Write(d.packet(h.sink, h.n))
	}
	d.held = nil
}

func (d *day) did(what string, args ...any) { d.deeds = append(d.deeds, fmt.Sprintf(what, args...)) }

// deed does one thing that may happen in a day.
func (d *day) deed() {
	switch d.r.IntN(8) {
	case 0, 1, 2:
		i, mode := d.r.IntN(len(d.stores)), d.r.IntN(int(modes))
		d.did("store %d: %d", i, mode)
		d.stores[i].set(mode)
	case 3:
		d.fill(!d.full)
	case 4, 5:
		d.did("SIGKILL")
		d.sendHeld()
		d.fill(false)
		d.settle()
		var behind []bool
		for _, o := range outputs[1:] {
			behind = append(behind, d.left(o) > 0)
		}
		time.Sleep(noted + 100*time.Millisecond)
		d.p.end(syscall.SIGKILL)
		time.Sleep(50 * time.Millisecond) // the stores read what the collector had sent
		for i, s := range d.stores {
			s.doubtful(behind[i])
		}
		if d.r.IntN(2) == 0 {
			d.tear()
		}
		d.start()
	case 6, 7:
		d.did("SIGTERM")
		d.sendHeld()
		d.fill(false)
		d.settle()
		calm := d.r.IntN(3) == 0
		if calm {
			d.calm()
		}
		if code := d.p.end(syscall.SIGTERM); code != 0 {
			d.t.Fatalf("exit code %d\n%s", code, d.p.stderr)
		}
		again := d.damage(calm)
		d.start()
		if again {
			d.calm() // all is delivered again: until then, what is damaged next is told to outputs that have it
		}
	}
}

var outputs = []string{"file archive", "clickhouse c0", "clickhouse c1"}

// calm waits until all is delivered, and segments that were damaged are gone: without positions, what is damaged
// is told to outputs that have it.
func (d *day) calm() {
	d.t.Helper()
	for _, s := range d.stores {
		s.set(well)
	}
	for range 2 {
		d.one()
		for _, o := range outputs {
			d.p.wait(o+" has all", func() bool { return d.left(o) == 0 })
		}
		time.Sleep(noted)
	}
}

// left returns how many records an output has still to deliver.
func (d *day) left(output string) float64 {
	return d.p.metric(fmt.Sprintf("intcollect_output_queued_records{output=%q}", output)) + d.p.metric(fmt.Sprintf("intcollect_output_spooled_records{output=%q}", output))
}

// settle waits until the spool is written again.
func (d *day) settle() {
	d.p.wait("the spool can be written", func() bool {
		d.send(1)
		code, body := d.p.get("/readyz")
		return code == 200 || !strings.Contains(body, "cannot be written")
	})
}

// fill fills the spool's disk, or makes room.
func (d *day) fill(full bool) {
	if full == d.full {
		return
	}
	d.did("disk full: %v", full)
	path := filepath.Join(d.dir, "disk", "filler")
	if d.full = full; !full {
		os.Remove(path)
		return
	}
	f, err := os.Create(path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for b := make([]byte, 1<<20); len(b) > 0; {
		if _, err := f.Write(b); err != nil {
			b = b[:len(b)/2]
		}
	}
}

func (d *day) segments() []string {
	all, err := filepath.Glob(filepath.Join(d.dir, "disk", "spool", "spool-*.pcap"))
	if err != nil {
		d.t.Fatal(err)
	}
	return all
}

// tear leaves a half of an entry behind the newest segment.
func (d *day) tear() {
	all := d.segments()
	if len(all) == 0 {
		return
	}
	d.did("torn tail")
	if f, err := os.OpenFile(all[len(all)-1], os.O_APPEND|os.O_WRONLY, 0); err == nil {
		f.Write(make([]byte, 77))
		f.Close()
	}
}

// damage does to the spool of a collector that has ended what disks and people do, and reports whether all is delivered again then.
func (d *day) damage(calm bool) (again bool) {
	all := d.segments()
	if len(all) == 0 {
		return false
	}
	path := all[d.r.IntN(len(all))]
	b, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	switch d.r.IntN(5) {
	case 0:
		d.did("%s removed", filepath.Base(path))
		os.Remove(path)
	case 1:
		at := d.r.IntN(len(b))
		d.did("%s: a bit of byte %d of %d", filepath.Base(path), at, len(b))
		b[at] ^= 1 << d.r.IntN(8)
		os.WriteFile(path, b, 0o600)
	case 2:
		n := d.r.IntN(len(b))
		d.did("%s cut to %d of %d", filepath.Base(path), n, len(b))
		os.Truncate(path, int64(n))
	case 3:
		if calm {
			d.did("positions removed")
			os.Remove(filepath.Join(d.dir, "disk", "spool", "positions.json"))
			return true
		}
	}
	return false
}

// TestSums: outputs fail and return, disks are full, segments and positions are lost, bits flip, the collector is killed and
// stopped, and reports are lost, doubled, late and forged, all at random: at the end each output has stored every
// report, or was told that it is lost; nothing is told as lost that is stored, or that never was.
func TestSums(t *testing.T) {
	first, last, steps := uint64(1), uint64(1), 14
	if from, to, ok := strings.Cut(os.Getenv("INTSINK_SUMS"), "-"); ok {
		var errs [2]error
		first, errs[0] = strconv.ParseUint(from, 10, 64)
		last, errs[1] = strconv.ParseUint(to, 10, 64)
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		steps = 25
	}
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			d := newDay(t, seed)
			for range steps {
				d.send(50 + d.r.IntN(500))
				if d.r.IntN(3) > 0 {
					time.Sleep(time.Duration(d.r.IntN(300)) * time.Millisecond)
				}
				d.deed()
			}
			d.evening()
		})
	}
}

// evening lets everything be well, ends the collector when all is delivered, and adds up.
func (d *day) evening() {
	d.t.Helper()
	d.fill(false)
	d.settle()
	d.sendHeld()
	d.calm()
	if code := d.p.end(syscall.SIGTERM); code != 0 {
		d.t.Errorf("exit code %d\n%s", code, d.p.stderr)
	}
	files, _ := filepath.Glob(filepath.Join(d.dir, "archive.jsonl*"))
	var rows []row
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			d.t.Fatal(err)
		}
		some, err := rowsOf(f)
		if err != nil {
			d.t.Errorf("%s: %v", path, err)
		}
		rows = append(rows, some...)
		f.Close()
	}
	d.sum(outputs[0], rows, nil)
	d.sum(outputs[1], d.stores[0].rows, d.stores[0].doubt)
	d.sum(outputs[2], d.stores[1].rows, d.stores[1].doubt)
	if d.t.Failed() {
		d.t.Logf("the day: %s", strings.Join(d.deeds, "; "))
	}
}

// sum compares what an output has with what was sent.
func (d *day) sum(output string, rows, doubt []row) {
	d.t.Helper()
	var stored, told [sinks]map[uint64]bool
	starts := map[string]int{}
	for i := range sinks {
		stored[i], told[i] = map[uint64]bool{}, map[uint64]bool{}
	}
	for _, x := range rows {
		i := int(x.Node) - 1
		if x.Type == "stats" {
			continue
		}
		if i < 0 || i >= sinks || !strings.HasSuffix(x.Exporter, "127.0.0.1") {
			d.t.Errorf("%s: nobody sent %+v", output, x)
			continue
		}
		starts[strings.Join(strings.Split(x.ID, "-")[:3], "-")]++
		if x.Type == "report" {
			stored[i][x.Sequence] = true
		}
		for n := x.First; x.Type == "gap" && n <= x.Last; n++ {
			told[i][n] = true
		}
	}
	// A few packets that may be of a sink that has begun anew, such as a late one that ends a silence, have a start of their own.
	maps.DeleteFunc(starts, func(_ string, records int) bool { return records < streams.Enough })
	if len(starts) != sinks {
		d.t.Errorf("%s: %d streams of %d sinks: %v", output, len(starts), sinks, starts)
	}
	var doubtful [sinks]map[uint64]bool
	for i := range sinks {
		doubtful[i] = map[uint64]bool{}
	}
	for _, x := range doubt {
		if x.Type == "report" {
			doubtful[x.Node-1][x.Sequence] = true
		}
	}
	kept, sent, bad := 0, 0, map[string][]uint64{}
	for i := range sinks {
		for n := range uint64(d.next[i]) {
			was, late := d.sent[i][uint32(n)], d.late[i][uint32(n)]
			wrong := ""
			switch has, lost := stored[i][n], told[i][n]; {
			case has && lost && !late && !doubtful[i][n]:
				wrong = "stored and told as lost"
			case !has && !lost:
				wrong = "neither stored nor told as lost"
			case has && !was:
				wrong = "never sent"
			}
			if wrong != "" {
				bad[wrong] = append(bad[wrong], n)
			}
			if was {
				sent++
			}
			if stored[i][n] {
				kept++
			}
			delete(stored[i], n)
			delete(told[i], n)
		}
		if len(stored[i])+len(told[i]) > 0 {
			d.t.Errorf("%s: sink %d: %d stored and %d told that never were", output, i+1, len(stored[i]), len(told[i]))
		}
	}
	for what, numbers := range bad {
		d.t.Errorf("%s: %d report packets are %s: %v", output, len(numbers), what, numbers[:min(20, len(numbers))])
	}
	d.t.Logf("%s: %d report packets sent, %d stored, the others told as lost", output, sent, kept)
}
