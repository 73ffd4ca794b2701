package main

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/engine/wire/intgen"
	"intsink/internal/netns"
	"intsink/internal/rawsocket"
)

// passed adds up frames, in whatever order they come.
type passed struct{ frames, bytes, sum atomic.Uint64 }

func (p *passed) add(frame []byte) {
	h := fnv.New64a()
	h.Write(frame)
	p.frames.Add(1)
	p.bytes.Add(uint64(len(frame)))
	p.sum.Add(h.Sum64())
}

// sequences are the report packets that one collector gets, and those that it misses among
// them, by the sequence numbers of each worker (Telemetry Report 2.0, group header: version 4
// bits, hw_id 6, sequence number 22).
type sequences struct{ packets, missing atomic.Uint64 }

func (s *sequences) listen(t *testing.T, address string) {
	t.Helper()
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(address)))
	if err != nil {
		t.Fatal(err)
	}
	c.SetReadBuffer(4 << 20)
	t.Cleanup(func() { c.Close() })
	go func() {
		next, buf := map[uint32]uint32{}, make([]byte, 9000)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			if n < 8 {
				continue
			}
			word := binary.BigEndian.Uint32(buf)
			hw, sequence := word>>22&0x3f, word&(1<<22-1)
			s.packets.Add(1)
			s.missing.Add(uint64(sequence - next[hw]))
			next[hw] = sequence + 1
		}
	}()
}

// sendUntil sends packets of 64 flows with INT, some 5000 a second, and adds up what they
// were without it. At most 256 are under way: a machine that is busy otherwise loses none.
func sendUntil(t *testing.T, stop *atomic.Bool, out *rawsocket.Interface, sent, arrived *passed) {
	source := intgen.Source{UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	for id := uint32(0); !stop.Load(); id++ {
		f := intgen.Flow{
			SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Proto: 17,
			Src: netip.AddrFrom4([4]byte{10, 0, 0, byte(id % 64)}), Dst: netip.MustParseAddr("10.1.0.1"), SrcPort: 1024 + uint16(id%64), DstPort: 8000,
		}
		plain := f.Frame(120, id)
		frame, err := source.Insert(plain, []intgen.Hop{{NodeID: 101, LatencyNs: 100 + id%2*10000}, {NodeID: 102, LatencyNs: 100}})
		if err != nil {
			t.Error(err)
			return
		}
		for !stop.Load() && int64(sent.frames.Load()-arrived.frames.Load()) > 256 {
			time.Sleep(time.Millisecond)
		}
		for !out.Send(frame) {
			time.Sleep(time.Millisecond)
		}
		sent.add(plain)
		if id%16 == 15 {
			time.Sleep(3 * time.Millisecond)
		}
	}
}

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
	wires(t, "a", "b", "c")
	var primary, second sequences
	primary.listen(t, "127.0.0.1:18555")
	second.listen(t, "127.0.0.1:18556")
	const byPort = "collector \"wire\" {\n  address = \"192.0.2.9:8555\"\n  source = \"192.0.2.1\"\n  gateway_mac = \"02:00:00:00:00:09\"\n  port = \"telemetry\"\n}\n"
	text := strings.Replace(kernelPorts("kernel:a-far", "kernel:b-near"), "127.0.0.1:9", "127.0.0.1:18555", 1)
	text, socket := addSocket(t, text)
	text = strings.Replace(text, "flows { capacity = 1024 }", "flows {\n  capacity = 1024\n  idle_timeout = \"30s\"\n}", 1)
	text = strings.Replace(text, "mbufs      = 4096", "mbufs = 32768\n  lcores = \"0-1\"", 1) + "port \"telemetry\" { device = \"kernel:c-near\" }\n"
	r := startRun(t, text+byPort)
	r.ready(t)
	path := r.cmd.Args[len(r.cmd.Args)-1]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix(string(b), byPort)
	var sent, arrived, reported passed
	in := openWire(t, "a-near")
	receive(t, openWire(t, "b-far"), arrived.add)
	receive(t, openWire(t, "c-far"), reported.add)
	var stop atomic.Bool
	var sending sync.WaitGroup
	sending.Go(func() { sendUntil(t, &stop, in, &sent, &arrived) })

	pairs := reloadPairs(t)
	many := &reloads{pairs: pairs, socket: socket, path: path, base: base, byPort: byPort}
	trials := reloadMany(t, many)
	stop.Store(true)
	sending.Wait()
	p := r.wait(t, "every packet", func(p observetest.Exposition) bool {
		return arrived.frames.Load() == sent.frames.Load() && p.Series[`intsink_forwarded_packets_total{link="edge",direction="to_host"}`] >= float64(sent.frames.Load())
	})
	if arrived.bytes.Load() != sent.bytes.Load() || arrived.sum.Load() != sent.sum.Load() || sent.frames.Load() < 1000 {
		t.Errorf("%d packets of %d bytes sent, %d of %d arrived, as sent %v", sent.frames.Load(), sent.bytes.Load(), arrived.frames.Load(), arrived.bytes.Load(), sent.sum.Load() == arrived.sum.Load())
	}
	for worker := range 2 {
		if p.Series[fmt.Sprintf(`intsink_flows{worker="w%d"}`, worker)] == 0 {
			t.Errorf("worker w%d has no flow", worker)
		}
	}
	if p.Series["intsink_config_generation"] != float64(1+pairs+trials) || p.Series[`intsink_api_writes_total{result="refused"}`] != float64(pairs+many.again) {
		t.Errorf("generation %v after %d trials, writes refused %v", p.Series["intsink_config_generation"], trials, p.Series[`intsink_api_writes_total{result="refused"}`])
	}
	if code := r.stop(t, patience); code != 0 {
		t.Errorf("exit code %d\n%s", code, r.stderr)
	}
	if primary.packets.Load() == 0 || primary.missing.Load() != 0 || second.packets.Load() == 0 || reported.frames.Load() == 0 {
		t.Errorf("the collector that stays got %d report packets and misses %d, the second got %d, that by a port %d", primary.packets.Load(), primary.missing.Load(), second.packets.Load(), reported.frames.Load())
	}
	t.Logf("%d reloads, %d packets, %d, %d and %d report packets", 2*pairs+trials, sent.frames.Load(), primary.packets.Load(), second.packets.Load(), reported.frames.Load())
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
		write(t, r.path, good[i%len(good)])
		switch {
		case i%10 == 9: // it goes back to what was before
			_, again := onTrial(t, r.socket, nil, []string{"--back"})
			r.again += again
			trials += 1 + 2*again
		default:
			must(t, "reload", "--socket", r.socket)
		}
		write(t, r.path, bad[i%len(bad)])
		if _, stderr, code := intsink(t, "reload", "--socket", r.socket); code != 1 || !strings.Contains(stderr, "reload refused, generation "+fmt.Sprint(i+2+trials)) {
			t.Fatalf("reload %d: exit code %d\n%s", i, code, stderr)
		}
		if i%10 == 4 {
			must(t, "mode", "strip", "--socket", r.socket)
		}
		if i%10 == 5 {
			must(t, "mode", "full", "--socket", r.socket)
		}
	}
	return trials
}
