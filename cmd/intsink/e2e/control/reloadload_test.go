package control_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
)

// reloadPairs is how often the test below reloads a good configuration and one that is
// refused: `make reloads` asks for a hundred.
func reloadPairs(t *testing.T) int {
	text := os.Getenv("INTSINK_RELOAD_PAIRS")
	if text == "" {
		return 12
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("INTSINK_RELOAD_PAIRS: %v", err)
	}
	return n
}

// TestReloadsUnderLoad: half of the reloads are of files that are refused, with two workers and
// collectors that come, go and change places, one by a port among them; http and idle_timeout
// change, budgets too, trials end, and flows are not watched for a time. Every packet arrives as it was
// before INT, and the collector that stays misses no report packet.
func TestReloadsUnderLoad(t *testing.T) {
	if !netns.In(t) {
		return
	}
	sinktest.Wires(t, "a", "b", "c")
	var primary, second sinktest.Sequences
	primary.Listen(t, "127.0.0.1:18555")
	second.Listen(t, "127.0.0.1:18556")
	const byPort = "collector \"wire\" {\n  address = \"192.0.2.9:8555\"\n  source = \"192.0.2.1\"\n  gateway_mac = \"02:00:00:00:00:09\"\n  port = \"telemetry\"\n}\n"
	text := strings.Replace(sinktest.KernelPorts("kernel:a-far", "kernel:b-near"), "127.0.0.1:9", "127.0.0.1:18555", 1)
	text, socket := sinktest.AddSocket(t, text)
	text = strings.Replace(text, "flows { capacity = 1024 }", "flows {\n  capacity = 1024\n  idle_timeout = \"30s\"\n}", 1)
	text = strings.Replace(text, "mbufs      = 4096", "mbufs = 32768\n  lcores = \"0-1\"", 1) + "port \"telemetry\" { device = \"kernel:c-near\" }\n"
	r := sinktest.Start(t, text+byPort)
	r.Ready(t)
	path := r.Cmd.Args[len(r.Cmd.Args)-1]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix(string(b), byPort)
	var sent, arrived, reported sinktest.Passed
	in := sinktest.OpenWire(t, "a-near")
	sinktest.Receive(t, sinktest.OpenWire(t, "b-far"), arrived.Add)
	sinktest.Receive(t, sinktest.OpenWire(t, "c-far"), reported.Add)
	var stop atomic.Bool
	var sending sync.WaitGroup
	sending.Go(func() { sinktest.SendUntil(t, &stop, in, &sent, &arrived) })

	pairs := reloadPairs(t)
	many := &reloads{pairs: pairs, socket: socket, path: path, base: base, byPort: byPort}
	trials := reloadMany(t, many)
	stop.Store(true)
	sending.Wait()
	p := r.Wait(t, "every packet", func(p observetest.Exposition) bool {
		return arrived.Frames.Load() == sent.Frames.Load() && p.Series[`intsink_forwarded_packets_total{link="edge",direction="to_host"}`] >= float64(sent.Frames.Load())
	})
	if arrived.Bytes.Load() != sent.Bytes.Load() || arrived.Sum.Load() != sent.Sum.Load() || sent.Frames.Load() < 1000 {
		t.Errorf("%d packets of %d bytes sent, %d of %d arrived, as sent %v", sent.Frames.Load(), sent.Bytes.Load(), arrived.Frames.Load(), arrived.Bytes.Load(), sent.Sum.Load() == arrived.Sum.Load())
	}
	for worker := range 2 {
		if p.Series[fmt.Sprintf(`intsink_flows{worker="w%d"}`, worker)] == 0 {
			t.Errorf("worker w%d has no flow", worker)
		}
	}
	if p.Series["intsink_config_generation"] != float64(1+pairs+trials) || p.Series[`intsink_api_writes_total{result="refused"}`] != float64(pairs+many.again) {
		t.Errorf("generation %v after %d trials, writes refused %v", p.Series["intsink_config_generation"], trials, p.Series[`intsink_api_writes_total{result="refused"}`])
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d\n%s", code, r.Stderr)
	}
	if primary.Packets.Load() == 0 || primary.Missing.Load() != 0 || second.Packets.Load() == 0 || reported.Frames.Load() == 0 {
		t.Errorf("the collector that stays got %d report packets and misses %d, the second got %d, that by a port %d", primary.Packets.Load(), primary.Missing.Load(), second.Packets.Load(), reported.Frames.Load())
	}
	t.Logf("%d reloads, %d packets, %d, %d and %d report packets", 2*pairs+trials, sent.Frames.Load(), primary.Packets.Load(), second.Packets.Load(), reported.Frames.Load())
}

// reloads are those of the test above.
type reloads struct {
	pairs                      int
	again                      int // trials that ended by themselves: a worker had no CPU
	socket, path, base, byPort string
}

// reloadMany reloads, and says how many generations trials have made.
func reloadMany(t *testing.T, r *reloads) (trials int) {
	t.Helper()
	const more = "collector \"second\" { address = \"127.0.0.1:18556\" }\n"
	budget := func(packets int) string {
		return fmt.Sprintf("collector \"second\" {\n  address = \"127.0.0.1:18556\"\n  budget { packets = %d }\n}\n", packets)
	}
	split := strings.Index(r.base, "collector ")
	good := []string{
		r.base, r.base + more + r.byPort, r.base + budget(5), r.base + budget(500), r.base[:split] + more + r.base[split:], r.base + strings.Replace(r.byPort, "8555", "8556", 1),
		strings.Replace(r.base+more, "18556", "18557", 1) + r.byPort, strings.Replace(r.base, "sample = 100", "sample = 10", 1),
		strings.Replace(r.base, `idle_timeout = "30s"`, `idle_timeout = "1s"`, 1), strings.Replace(r.base+more, "http {\n", "http {\n  pprof = \"127.0.0.1:18557\"\n", 1),
	}
	bad := []string{r.base + "collector \"third\" {}\n", strings.Replace(r.base, "mbufs = 32768", "mbufs = 65536", 1), "{{{", strings.Replace(r.base, "sample = 100", "sample = -1", 1)}
	for i := range r.pairs {
		time.Sleep(150 * time.Millisecond) // three of the writes that may come in a second
		sinktest.Write(t, r.path, good[i%len(good)])
		switch {
		case i%10 == 9: // it goes back to what was before
			_, again := onTrial(t, r.socket, nil, []string{"--back"})
			r.again += again
			trials += 1 + 2*again
		default:
			sinktest.Must(t, "reload", "--socket", r.socket)
		}
		sinktest.Write(t, r.path, bad[i%len(bad)])
		if _, stderr, code := sinktest.Run(t, "reload", "--socket", r.socket); code != 1 || !strings.Contains(stderr, "reload refused, generation "+fmt.Sprint(i+2+trials)) {
			t.Fatalf("reload %d: exit code %d\n%s", i, code, stderr)
		}
		if i%10 == 4 {
			sinktest.Must(t, "mode", "strip", "--socket", r.socket)
		}
		if i%10 == 5 {
			sinktest.Must(t, "mode", "full", "--socket", r.socket)
		}
	}
	return trials
}
