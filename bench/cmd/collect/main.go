// Command collect measures what `intsink collect` costs: it sends report packets over
// loopback to a collector of its own, which produces to a broker, or inserts into a server, in this
// process that stores nothing, and divides the records by the CPU time of the collector alone.
package main

import (
	"cmp"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"intsink/bench/internal/results"
	"intsink/bench/internal/tool"
	"intsink/engine/wire/report"
)

const perPacket = 8 // reports in a packet

func main() { tool.Main("collect", run) }

func run() error {
	program := flag.String("collect", "bin/intsink-collect", "the program")
	goflow2 := flag.String("goflow2", "", "program of goflow2, to be measured in turns with ours; empty: not at all")
	records := flag.Int("records", 2000000, "records of each row and round")
	rounds := flag.Int("rounds", 1, "rounds; each measures every row once")
	only := flag.String("only", "", "measure the rows whose name begins so")
	pace := flag.Int("pace", 0, "report packets a second; 0: as fast as the program takes them")
	file := flag.String("results", "", "also replace the section collect of this file")
	flag.Parse()
	memory, err := os.MkdirTemp("/dev/shm", "intsink-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(memory)
	store := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
	defer store.Close()
	flows, err := net.ListenPacket("udp", "127.0.0.1:0") // what it does not read, the kernel drops
	if err != nil {
		return err
	}
	defer flows.Close()
	rows := []row{
		intsink("file", *program, fmt.Sprintf("file \"out\" { path = %q }\n", filepath.Join(memory, "out.jsonl")), "file out"),
		intsink("kafka json lz4", *program, kafka("json", "lz4"), "kafka k"),
		intsink("kafka json none", *program, kafka("json", "none"), "kafka k"),
		intsink("kafka protobuf lz4", *program, kafka("protobuf", "lz4"), "kafka k"),
		intsink("clickhouse", *program, fmt.Sprintf("clickhouse \"c\" {\n  url = %q\n  rows = 4096\n}\n", store.URL+"/?table=t"), "clickhouse c"),
		intsink("ipfix udp", *program, fmt.Sprintf("ipfix \"x\" { address = %q }\n", flows.LocalAddr()), "ipfix x"),
	}
	if *goflow2 != "" {
		rows = append(rows, goflow2Row("goflow2 sFlow json lz4", *goflow2, "json"), goflow2Row("goflow2 sFlow protobuf lz4", *goflow2, "bin"))
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !strings.HasPrefix(r.name, *only) })
	measured := make([][]result, len(rows))
	for range *rounds {
		for i, row := range rows {
			row.pace = cmp.Or(row.pace, *pace)
			r, err := row.measure(*records)
			if err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
			measured[i] = append(measured[i], r)
		}
	}
	body := table(rows, measured)
	fmt.Print(body)
	if *file == "" {
		return nil
	}
	return results.ReplaceHere(*file, "collect", results.Heading()+
		fmt.Sprintf("%d records in each of %d rounds, %d a packet, the rows in turns; records by CPU time of the program alone, kernel's included.\n\n", *records, *rounds, perPacket)+body)
}

// table is the medians of each row.
func table(rows []row, measured [][]result) string {
	cells := [][]string{{"output", "records/s of a core", "least", "most", "us a record", "peak MiB"}}
	for i, row := range rows {
		all := measured[i]
		slices.SortFunc(all, func(a, b result) int { return cmp.Compare(a.rate, b.rate) })
		r := all[len(all)/2]
		cells = append(cells, []string{row.name, fmt.Sprintf("%.0f", r.rate), fmt.Sprintf("%.0f", all[0].rate), fmt.Sprintf("%.0f", all[len(all)-1].rate),
			fmt.Sprintf("%.2f", 1e6/r.rate), strconv.FormatInt(r.peak>>10, 10)})
	}
	return results.Table(cells)
}

func kafka(format, compression string) string {
	return fmt.Sprintf("kafka \"k\" {\n  brokers = [\"BROKER\"]\n  format = %q\n  compression = %q\n}\n", format, compression)
}

// result is the result of a row.
type result struct {
	rate float64 // records in a second of CPU time
	peak int64   // KiB of memory
}

// row is one program with one output.
type row struct {
	name   string
	start  func(broker, dir string) (*exec.Cmd, error)
	packet []byte                   // with as many records as all others
	number func(p []byte, n uint32) // makes it packet n
	series string                   // of the program's metrics: records or packets that it is done with
	counts int                      // of the series, for each packet
	pace   int                      // packets that are sent a second, whether or not the program takes all of them; 0: send waits for those it has not taken
}

// Addresses of the program that is measured.
const address, metrics = "127.0.0.1:18955", "127.0.0.1:18966"

// intsink returns a row of collect with that output, which its metrics call by that name.
func intsink(name, program, output, label string) row {
	return row{name: name, packet: packet(), number: func(p []byte, n uint32) {
		binary.BigEndian.PutUint32(p, 2<<28|5<<22|n&0x3fffff)
		binary.BigEndian.PutUint16(p[report.GroupHeaderLen+12+12:], uint16(n)) // another flow in each packet
	}, series: fmt.Sprintf("intcollect_output_delivered_records_total{output=%q}", label), counts: perPacket,
		start: func(broker, dir string) (*exec.Cmd, error) {
			config := filepath.Join(dir, "c.hcl")
			text := fmt.Sprintf("listen \"r\" {\n  address = %q\n  sockets = 1\n  receive_buffer = \"64MiB\"\n}\nhttp { listen = %q }\n", address, metrics) +
				strings.ReplaceAll(output, "BROKER", broker)
			return exec.Command(program, "collect", "--config", config), os.WriteFile(config, []byte(text), 0o600)
		}}
}

// measure runs the program of a row.
func (w *row) measure(records int) (r result, err error) {
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(12, "intsink.reports.v1"), kfake.BlackholeProduce())
	if err != nil {
		return r, err
	}
	defer broker.Close()
	dir, err := os.MkdirTemp("", "intsink-bench")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	child, err := w.start(broker.ListenAddrs()[0], dir)
	if err != nil {
		return r, err
	}
	child.Stderr = os.Stderr
	child.Env = append(os.Environ(), "GOMAXPROCS=2")
	if err := child.Start(); err != nil {
		return r, err
	}
	defer child.Process.Kill()
	for end := time.Now().Add(10 * time.Second); metric("/healthz", "") < 0 && metric("/metrics", "") < 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return r, fmt.Errorf("the program does not answer")
		}
	}
	taken := func() int { return max(0, metric("/metrics", w.series)/w.counts) } // a stats record more makes no packet
	done, err := w.send(records/perPacket, taken)
	if err != nil {
		return r, err
	}
	child.Process.Signal(syscall.SIGTERM)
	if err := child.Wait(); err != nil {
		return r, err
	}
	u := child.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := time.Duration(u.Utime.Nano() + u.Stime.Nano())
	return result{float64(done*perPacket) / cpu.Seconds(), u.Maxrss}, nil
}

// window is the most packets on their way: far fewer than a socket's buffer holds, and than what all outputs are handed without the log being read.
const window = 3000

// send sends n packets as fast as they are taken, or at the row's pace, and returns how many
// the program was done with.
func (w *row) send(n int, taken func() int) (done int, err error) {
	conn, err := net.Dial("udp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	began, seen := time.Now(), 0
	for i := range n {
		for w.pace > 0 && time.Since(began) < time.Duration(i)*time.Second/time.Duration(w.pace) {
			time.Sleep(100 * time.Microsecond)
		}
		for w.pace == 0 && i-seen >= window {
			time.Sleep(20 * time.Millisecond) // each question takes the program's time, too
			seen = taken()
		}
		w.number(w.packet, uint32(i))
		_, err := conn.Write(w.packet)
		for wait := time.Now(); errors.Is(err, syscall.ECONNREFUSED) && time.Since(wait) < 10*time.Second; _, err = conn.Write(w.packet) {
			time.Sleep(10 * time.Millisecond) // the program serves its metrics before it listens
		}
		if err != nil {
			return 0, err
		}
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		switch done = taken(); {
		case done >= n, w.pace > 0 && time.Now().After(end.Add(-time.Minute+time.Second)):
			return done, nil
		case time.Now().After(end):
			return done, fmt.Errorf("%d of %d packets were delivered", done, n)
		}
	}
}

// metric adds up the series of the program's metrics that begin so, -1 where there is no
// answer.
func metric(path, series string) (sum int) {
	resp, err := http.Get("http://" + metrics + path)
	if err != nil {
		return -1
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	for line := range strings.Lines(string(b)) {
		if at := strings.LastIndexByte(line, ' '); series != "" && strings.HasPrefix(line, series) {
			v, _ := strconv.ParseFloat(strings.TrimSpace(line[at+1:]), 64)
			sum += int(v)
		}
	}
	return sum
}

// packet returns a report packet whose reports have three hops with ids, interfaces, latency, queue
// and both timestamps.
func packet() []byte {
	const hops, hopLen = 3, 32
	stack := make([]byte, 4+12+hops*hopLen)
	stack[0], stack[1] = 0x14, byte(len(stack)/4-1)
	binary.BigEndian.PutUint16(stack[2:], 53)
	stack[4], stack[6], stack[7] = 0x20, hopLen/4, 5
	binary.BigEndian.PutUint16(stack[8:], 0xfc00)
	now := uint64(time.Now().UnixNano())
	for i := range hops {
		h := stack[16+i*hopLen:]
		binary.BigEndian.PutUint32(h, uint32(100+hops-i))
		binary.BigEndian.PutUint32(h[4:], 1<<16|2)
		binary.BigEndian.PutUint32(h[8:], uint32(1000*(i+1)))
		binary.BigEndian.PutUint32(h[12:], 3<<24|uint32(20*i))
		binary.BigEndian.PutUint64(h[16:], now-uint64(i)*2000)
		binary.BigEndian.PutUint64(h[24:], now-uint64(i)*2000+1000)
	}
	inner := []byte{
		0x45, 0, 0, byte(28 + len(stack)), 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
		0x9c, 0x40, 0x13, 0x88, 0, byte(8 + len(stack)), 0, 0,
	}
	inner = append(inner, stack...)
	var p report.Packet
	p.Open(make([]byte, 4000))
	for range perPacket {
		if !p.Append(&report.Individual{RepType: report.INT, InType: report.IPv4, TrackedFlow: true, RepMdBits: report.MdInterfaces, Metadata: []byte{0, 1, 0, 2}, Inner: inner}) {
			log.Fatal("a report does not fit")
		}
	}
	return p.Seal(report.GroupHeader{HwID: 5, NodeID: 3})
}
