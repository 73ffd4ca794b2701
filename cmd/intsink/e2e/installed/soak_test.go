package installed_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
)

// TestSoak: a sink that strips 5000 packets a second is asked, reloaded, recorded from, stopped for a moment and
// hung upon at random, and loses nothing: each packet arrives as it was before INT, the collector that stays misses
// no report packet, counters add up, and its memory does not grow. `make soak` lets it run for an hour.
// INTSINK_SOAK=8h is for how long, INTSINK_SEED=7 which faults.
func TestSoak(t *testing.T) {
	if !netns.In(t) {
		return
	}
	s := newSoak(t)
	var sending sync.WaitGroup
	sending.Go(func() { sinktest.SendUntil(t, &s.stop, sinktest.OpenWire(t, "a-near"), &s.sent, &s.arrived) })
	defer func() { s.stop.Store(true); sending.Wait() }()
	faults := []func(*testing.T){
		s.ask, s.ask, s.reload, s.refused, s.modes, s.mitigate, s.capture, s.comesAndGoes, s.hangs, s.pauses, s.hup,
	}
	check, checked := time.Now().Add(s.each), 0
	for !t.Failed() && time.Now().Before(s.end) {
		faults[s.r.IntN(len(faults))](t)
		time.Sleep(time.Duration(s.r.IntN(500)) * time.Millisecond)
		if time.Now().After(check) {
			s.check(t)
			check, checked = time.Now().Add(s.each), checked+1
		}
	}
	s.stop.Store(true)
	sending.Wait()
	s.Wait(t, "every packet", func(observetest.Exposition) bool { return s.arrived.Frames.Load() == s.sent.Frames.Load() })
	s.check(t)
	if s.arrived.Bytes.Load() != s.sent.Bytes.Load() || s.arrived.Sum.Load() != s.sent.Sum.Load() {
		t.Errorf("packets arrive otherwise than they were: %d bytes of %d", s.arrived.Bytes.Load(), s.sent.Bytes.Load())
	}
	if code := s.Sink.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if s.reports.Packets.Load() == 0 || s.reports.Missing.Load() != 0 {
		t.Errorf("the collector that stays got %d report packets and misses %d", s.reports.Packets.Load(), s.reports.Missing.Load())
	}
	if first, last := s.memory(); checked > 20 && last > first*115/100 {
		t.Errorf("memory grew from %d KiB in the first half to %d KiB in the second", first, last)
	}
	t.Logf("%d packets, %d report packets, %v, memory %v KiB", s.sent.Frames.Load(), s.reports.Packets.Load(), s.done, s.resident)
	if t.Failed() {
		t.Logf("INTSINK_SEED=%d\n%s", s.seed, s.Stderr)
	}
}

// soak is a sink, its traffic, and what was done to it.
type soak struct {
	*sinktest.Sink
	r                  *rand.Rand
	seed               uint64
	end                time.Time
	each               time.Duration // from one check to the next
	stop               atomic.Bool
	sent, arrived      sinktest.Passed
	reports            sinktest.Sequences
	socket, path, base string
	folder             string
	second             net.PacketConn // the collector that comes and goes
	strip              bool
	done               map[string]int
	resident           []int // KiB, at each check
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	s := &soak{seed: rand.Uint64N(1e6), each: 5 * time.Second, done: map[string]int{}, folder: t.TempDir()}
	lasts := 12 * time.Second
	if text := os.Getenv("INTSINK_SOAK"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		s.each = time.Minute
	}
	if text := os.Getenv("INTSINK_SEED"); text != "" {
		fmt.Sscan(text, &s.seed)
	}
	s.r = rand.New(rand.NewPCG(s.seed, 0))
	s.reports.Listen(t, "127.0.0.1:18555")
	text, socket := sinktest.AddSocket(t, sinktest.Mitigated(strings.Replace(sinktest.InLine(t), "127.0.0.1:9", "127.0.0.1:18555", 1)))
	text = strings.Replace(text, "mbufs      = 4096", "mbufs = 32768\n  lcores = \"0-1\"", 1)
	text += "collector \"second\" { address = \"127.0.0.1:18556\" }\nrecorder { memory = \"8MiB\" }\n"
	s.socket, s.Sink = socket, sinktest.Start(t, text)
	s.Ready(t)
	s.path = s.Cmd.Args[len(s.Cmd.Args)-1]
	b, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	s.base = string(b)
	sinktest.Receive(t, sinktest.OpenWire(t, "b-far"), s.arrived.Add)
	s.end = time.Now().Add(lasts)
	return s
}

// check holds counters against each other, and notes how much memory the sink has.
func (s *soak) check(t *testing.T) {
	t.Helper()
	linkAddsUp(t, observetest.Parse(t, s.Get(t, "/metrics")))
	statusAddsUp(t, s.Sink)
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(b), "VmRSS:")
	n, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	s.resident = append(s.resident, n)
}

// memory is the most that the sink had in the first half of its life, and in the second.
func (s *soak) memory() (first, last int) {
	for i, n := range s.resident {
		if i < len(s.resident)/2 {
			first = max(first, n)
		} else {
			last = max(last, n)
		}
	}
	return first, last
}

func (s *soak) ask(t *testing.T) {
	all := []string{
		"/metrics", "/api/v1/flows", "/api/v1/paths", "/api/v1/queues", "/api/v1/problems", "/api/v1/episodes", "/api/v1/history/links",
		"/api/v1/history/queues?since=10m&step=1s", "/api/v1/config", "/readyz", "/", "/nothing",
	}
	s.Get(t, all[s.r.IntN(len(all))])
	s.done["questions"]++
}

// reload puts another configuration into force.
func (s *soak) reload(t *testing.T) {
	text := strings.Replace(s.base, "sample = 100", fmt.Sprintf("sample = %d", 50+s.r.IntN(200)), 1)
	if s.r.IntN(3) == 0 {
		text = strings.Replace(text, "collector \"second\" { address = \"127.0.0.1:18556\" }\n", "", 1)
	}
	sinktest.Write(t, s.path, text)
	sinktest.Must(t, "reload", "--socket", s.socket)
	s.done["reloads"]++
}

func (s *soak) refused(t *testing.T) {
	bad := []string{"{{{", s.base + "collector \"third\" {}\n", strings.Replace(s.base, "32768", "65536", 1), ""}
	sinktest.Write(t, s.path, bad[s.r.IntN(len(bad))])
	if _, stderr, code := sinktest.Run(t, "reload", "--socket", s.socket); code != 1 {
		t.Errorf("a reload that is to be refused: exit code %d, %s", code, stderr)
	}
	sinktest.Write(t, s.path, s.base)
	s.done["refused reloads"]++
}

func (s *soak) hup(t *testing.T) {
	sinktest.Write(t, s.path, s.base)
	s.Cmd.Process.Signal(syscall.SIGHUP)
	s.done["SIGHUP"]++
}

func (s *soak) modes(t *testing.T) {
	s.strip = !s.strip
	sinktest.Must(t, "mode", map[bool]string{true: "strip", false: "full"}[s.strip], "--socket", s.socket)
	s.done["modes"]++
}

// mitigate adds a rule that selects none of the packets, for a while.
func (s *soak) mitigate(t *testing.T) {
	sinktest.Must(t, "mitigate", "add", "--socket", s.socket, "--source", fmt.Sprintf("203.0.113.%d/32", s.r.IntN(200)), "--ttl", "5s")
	s.done["rules"]++
}

func (s *soak) capture(t *testing.T) {
	args := []string{"capture", "--socket", s.socket, "-w", filepath.Join(s.folder, fmt.Sprint(s.done["captures"])), "--seconds", "1"}
	if s.r.IntN(2) == 0 {
		args = append(args[:len(args)-2], "--before", "5s", "--seconds", "1")
	}
	sinktest.Run(t, args...) // of what, it depends
	files, _ := filepath.Glob(filepath.Join(s.folder, "*"))
	for _, f := range files {
		os.Remove(f)
	}
	s.done["captures"]++
}

// comesAndGoes opens the second collector's port, or closes it.
func (s *soak) comesAndGoes(t *testing.T) {
	if s.second != nil {
		s.second.Close()
		s.second = nil
	} else if c, err := net.ListenPacket("udp", "127.0.0.1:18556"); err == nil {
		s.second = c
		t.Cleanup(func() { c.Close() })
	}
	s.done["a collector comes or goes"]++
}

// hangs leaves clients that ask half of a question, or do not read the answer.
func (s *soak) hangs(t *testing.T) {
	for range 1 + s.r.IntN(10) {
		c, err := net.Dial("tcp", s.HTTP)
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprint(c, []string{"GET /api/v1/fl", "GET /api/v1/flows HTTP/1.1\r\nHost: x\r\n\r\n", "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"}[s.r.IntN(3)])
		time.AfterFunc(3*time.Second, func() { c.Close() })
	}
	s.done["clients that hang"]++
}

// pauses stops the whole process for a moment: packets wait in the ports.
func (s *soak) pauses(t *testing.T) {
	s.Cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(time.Duration(s.r.IntN(40)) * time.Millisecond)
	s.Cmd.Process.Signal(syscall.SIGCONT)
	s.done["pauses"]++
}
