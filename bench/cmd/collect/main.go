// Command collect measures what `intsink collect` costs: it sends report packets over
// loopback to a collector of its own, which produces to a broker in this process that
// stores nothing, and divides the records by the CPU time of the collector alone.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"intsink/bench/internal/tool"
	"intsink/engine/report"
)

const perPacket = 8 // reports of a packet

func main() { tool.Main("collect", run) }

func run() error {
	program := flag.String("collect", "bin/intsink-collect", "the program")
	records := flag.Int("records", 2000000, "records of each row")
	flag.Parse()
	fmt.Println("output                  records/s of a core   us a record   peak MiB")
	for _, row := range []struct{ name, output string }{
		{"file", "file \"out\" { path = \"/dev/shm/intsink-bench.jsonl\" }\n"},
		{"kafka json lz4", kafka("json", "lz4")},
		{"kafka json none", kafka("json", "none")},
		{"kafka protobuf lz4", kafka("protobuf", "lz4")},
	} {
		output := "kafka k"
		if row.name == "file" {
			output = "file out"
		}
		r, err := measure(*program, row.output, output, *records)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		fmt.Printf("%-24s%16.0f%16.2f%11d\n", row.name, r.rate, 1e6/r.rate, r.peak>>10)
	}
	os.Remove("/dev/shm/intsink-bench.jsonl")
	return nil
}

func kafka(format, compression string) string {
	return fmt.Sprintf("kafka \"k\" {\n  brokers = [\"BROKER\"]\n  format = %q\n  compression = %q\n}\n", format, compression)
}

// result of a row.
type result struct {
	rate float64 // records in a second of CPU time
	peak int64   // KiB of memory
}

// measure runs one collector,
// whose output has that name.
func measure(program, output, name string, records int) (r result, err error) {
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
	const address, metrics = "127.0.0.1:18955", "127.0.0.1:18966"
	config := filepath.Join(dir, "c.hcl")
	text := fmt.Sprintf("listen \"r\" {\n  address = %q\n  sockets = 1\n  receive_buffer = \"64MiB\"\n}\nhttp { listen = %q }\n", address, metrics) +
		strings.ReplaceAll(output, "BROKER", broker.ListenAddrs()[0])
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return r, err
	}
	child := exec.Command(program, "collect", "--config", config)
	child.Stderr = os.Stderr
	child.Env = append(os.Environ(), "GOMAXPROCS=2")
	if err := child.Start(); err != nil {
		return r, err
	}
	defer child.Process.Kill()
	taken := func() int {
		n := metric("http://"+metrics+"/metrics", fmt.Sprintf("intcollect_output_delivered_records_total{output=%q}", name))
		if n > 0 {
			n /= perPacket // a stats record more makes no packet
		}
		return n
	}
	for end := time.Now().Add(10 * time.Second); taken() < 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return r, fmt.Errorf("the collector does not answer")
		}
	}
	if err := send(address, records/perPacket, taken); err != nil {
		return r, err
	}
	child.Process.Signal(syscall.SIGTERM)
	if err := child.Wait(); err != nil {
		return r, err
	}
	u := child.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := time.Duration(u.Utime.Nano() + u.Stime.Nano())
	return result{float64(records) / cpu.Seconds(), u.Maxrss}, nil
}

// window are the packets on their way at most: what a socket's buffer holds by far.
const window = 1500

// send sends n report packets as fast as they are taken.
func send(address string, n int, taken func() int) error {
	conn, err := net.Dial("udp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	p := packet()
	seen := 0
	for i := range n {
		for i-seen >= window {
			if seen = taken(); i-seen >= window {
				time.Sleep(time.Millisecond)
			}
		}
		binary.BigEndian.PutUint32(p, 2<<28|5<<22|uint32(i)&0x3fffff)
		// Another flow in each packet.
		binary.BigEndian.PutUint16(p[report.GroupHeaderLen+12+12:], uint16(i))
		if _, err := conn.Write(p); err != nil {
			return err
		}
	}
	for end := time.Now().Add(time.Minute); taken() < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("%d of %d packets were delivered", taken(), n)
		}
	}
	return nil
}

// metric is the value of a series, -1 where there is no answer.
func metric(url, series string) int {
	resp, err := http.Get(url)
	if err != nil {
		return -1
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(rest))
			return n
		}
	}
	return -1
}

// packet is a report packet whose reports have three hops with ids, interfaces, latency,
// queue and both timestamps.
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
