//go:build engines

package faults

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"intsink/exporters/kafka/kafkatest"
)

var (
	reports = flag.Int("reports", 200000, "reports that are sent at least")
	rate    = flag.Int("rate", 10000, "reports a second")
	away    = flag.Duration("away", 2*time.Second, "how long all brokers are away, at 50,000 reports a second or more; shorter faults take less")
)

const topic = "intsink.reports.v1"

// mostMemory is how much memory collect may take, in MiB: a quarter more than the limit that it
// sets itself for one output to Kafka and one to ClickHouse.
const mostMemory = 1019

// run is one run of the test.
type run struct {
	t       *testing.T
	kafka   *kafkatest.Cluster
	admin   *kadm.Client
	server  *server
	ch      *clickHouse
	c       *collector
	s       *sender
	windows []window // in each, some packets may be lost before collect reads them
	lost    int64    // datagrams that the sockets had no room for
	refused [2]float64
	cells   []string // of the table
}

// window is a range of packets: the socket of a killed collector still held some of them, or no
// collector ran when they were sent. No more than most of them may be lost.
type window struct{ from, to, most int64 }

// phase calls fault while reports arrive, waits at a fifth of the rate until the outputs have
// caught up, and adds a row to the table.
func (r *run) phase(name string, fault func()) {
	r.t.Helper()
	began, before := time.Now(), r.s.sent.Load()
	stop, peak := make(chan struct{}), make(chan [2]int)
	go func() { // measures the most records on disk and the most memory
		var most [2]int
		for {
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(100 * time.Millisecond):
			}
			if m := r.c.metrics(); m != nil {
				for _, o := range outputNames {
					most[0] = max(most[0], int(m[of("output_spooled_records", o)]))
				}
			}
			most[1] = max(most[1], r.c.rss())
		}
	}()
	fault()
	over := time.Now()
	r.s.rate.Store(int64(*rate) / 5)
	r.caughtUp()
	r.s.rate.Store(int64(*rate))
	caught := time.Since(over)
	close(stop)
	most := <-peak
	if most[1] > mostMemory {
		r.t.Errorf("%s: collect took %d MiB", name, most[1])
	}
	r.cells = append(r.cells, fmt.Sprintf("| %s | %.0f s | %d | %d | %d MiB | %.1f s |", name, over.Sub(began).Seconds(),
		(r.s.sent.Load()-before)*perPacket, most[0], most[1], caught.Seconds()))
	r.t.Log(r.cells[len(r.cells)-1])
}

// caughtUp waits until both outputs take records from memory.
func (r *run) caughtUp() {
	r.t.Helper()
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		m := r.c.look()
		behind := 0.0
		for _, o := range outputNames {
			behind += m[of("output_behind", o)] + 1 - m[of("output_up", o)]
		}
		if behind == 0 {
			return
		}
		if time.Now().After(end) {
			r.c.fatal("the outputs do not catch up")
		}
	}
}

// taken stops sending and waits until the collector has read all datagrams.
func (r *run) taken() {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		m := r.c.look()
		if r.c.taken(m)+overflows(m) >= r.s.all() {
			return
		}
		if time.Now().After(end) {
			r.c.fatal(fmt.Sprintf("%d datagrams sent, %d taken", r.s.all(), r.c.taken(m)))
		}
	}
}

// count adds the counters of the collector to those of the run, before the collector ends.
func (r *run) count() {
	m := r.c.look()
	r.lost += overflows(m)
	for i, reason := range []string{"not_allowed", "not_report"} {
		r.refused[i] += sum(m, "refused_datagrams_total", reason)
	}
}

// killIdle kills the collector when it has read all datagrams: no report may be lost, although
// only some have reached the brokers.
func (r *run) killIdle() {
	release := r.s.hold()
	r.taken()
	r.count()
	r.c.end(syscall.SIGKILL)
	r.c.tearTail()
	r.c.start(r.s.all())
	release()
}

// killBusy kills the collector while reports arrive: datagrams in its socket are lost, and those
// that are sent until the next collector listens.
func (r *run) killBusy() {
	r.count()
	from, all := r.s.sent.Load(), r.s.all()
	taken := r.c.taken(r.c.look())
	r.c.end(syscall.SIGKILL)
	release := r.s.hold()
	r.windows = append(r.windows, window{from - max(0, all-taken) - int64(*rate)/perPacket, r.s.sent.Load(), r.s.all() - taken})
	r.c.start(r.s.all())
	release()
}

func (r *run) sleep(part float64) { time.Sleep(time.Duration(part * float64(*away))) }

// acl denies or allows the user to write.
func (r *run) acl(deny bool) {
	r.t.Helper()
	ctx := context.Background()
	b := kadm.NewACLs().Topics(topic).ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpWrite, kadm.OpDescribe)
	if deny {
		if _, err := r.admin.DeleteACLs(ctx, b.Allow("User:"+kafkatest.User).AllowHosts().Deny().DenyHosts()); err != nil {
			r.t.Fatal(err)
		}
		return
	}
	if _, err := r.admin.CreateACLs(ctx, b.Allow("User:"+kafkatest.User)); err != nil {
		r.t.Fatal(err)
	}
}

// largest sets the largest batch that the topic takes.
func (r *run) largest(bytes string) {
	r.t.Helper()
	if _, err := r.admin.AlterTopicConfigs(context.Background(), []kadm.AlterConfig{{Name: "max.message.bytes", Value: &bytes}}, topic); err != nil {
		r.t.Fatal(err)
	}
}

// leader returns the broker that leads a partition.
func (r *run) leader() int {
	r.t.Helper()
	topics, err := r.admin.ListTopics(context.Background(), topic)
	if err != nil {
		r.t.Fatal(err)
	}
	return int(topics[topic].Partitions[0].Leader)
}

func (r *run) faults() {
	r.phase("topic missing", func() {
		r.sleep(0.5)
		if _, err := r.admin.CreateTopic(context.Background(), 12, 3, nil, topic); err != nil {
			r.t.Fatal(err)
		}
	})
	r.ch.readKafka(r.kafka.Addresses())
	r.phase("nothing fails", func() { r.sleep(1) })
	r.phase("leader killed with SIGKILL, and back", func() {
		leader := r.leader()
		r.kafka.Kill(leader, syscall.SIGKILL)
		r.sleep(0.5)
		r.kafka.Restart(leader)
	})
	r.phase("rolling restart of three brokers", func() {
		for id := 1; id <= 3; id++ {
			r.kafka.Kill(id, syscall.SIGTERM)
			r.kafka.Restart(id)
			r.sleep(0.2)
		}
	})
	r.phase("all brokers away", func() {
		for id := 1; id <= 3; id++ {
			r.kafka.Kill(id, syscall.SIGKILL)
		}
		r.s.rate.Store(max(int64(*rate), 50000))
		r.sleep(1)
		r.s.rate.Store(int64(*rate))
		r.kafka.RestartAll()
	})
	r.phase("all brokers away, SIGKILL of collect, torn tail of the spool", func() {
		for id := 1; id <= 3; id++ {
			r.kafka.Kill(id, syscall.SIGKILL)
		}
		r.sleep(0.2)
		r.killIdle()
		r.sleep(0.2)
		r.kafka.RestartAll()
	})
	r.phase("SIGKILL of collect three times, torn tail", func() {
		for range 3 {
			r.sleep(0.1)
			r.killIdle()
		}
	})
	r.phase("SIGKILL of collect in the middle of a burst", func() {
		r.sleep(0.1)
		r.killBusy()
	})
	r.phase("disk of the spool full", func() {
		free := r.c.fillDisk()
		r.sleep(0.3)
		free()
	})
	r.phase("right to write withdrawn", func() {
		r.acl(true)
		r.sleep(0.3)
		r.acl(false)
	})
	r.phase("ClickHouse killed with SIGKILL, and back", func() {
		r.server.kill()
		r.sleep(0.3)
		r.server.run()
	})
	r.phase("topic takes batches of 100 kB only", func() {
		r.largest("100000")
		r.sleep(0.3)
		r.largest("1048588")
	})
}

// TestFaults: every report that came to the collector's sockets is in both stores at the end.
func TestFaults(t *testing.T) {
	r := &run{t: t, kafka: kafkatest.StartSecure(t, 3), server: startServer(t), ch: startClickHouse(t)}
	client, err := kgo.NewClient(kgo.SeedBrokers(r.kafka.Addresses()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	r.admin = kadm.NewClient(client)
	r.acl(false)
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(kafkatest.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.c = newCollector(t, fmt.Sprintf(`
kafka "main" {
  brokers = ["%s"]
  tls { ca = %q }
  sasl {
    mechanism     = "scram-sha-512"
    user          = %q
    password_file = %q
  }
}
clickhouse "http" {
  url     = "%s/?table=faults"
  wait    = "1s"
  timeout = "3s"
}
`, strings.Join(r.kafka.SecureAddresses(), `", "`), r.kafka.CA(), kafkatest.User, password, r.server.URL))
	r.c.start(0)
	r.s = newSender(t, r.c.address, *rate)
	r.s.limit.Store(1 << 40)
	go r.s.run()
	began := time.Now()
	r.faults()
	r.phase("nothing fails, to the end", func() {
		limit := int64(*reports / perPacket)
		for _, w := range r.windows {
			limit += w.most // so that as many arrive, however many the kill loses
		}
		r.s.limit.Store(max(r.s.sent.Load(), limit))
		for r.s.sent.Load() < r.s.limit.Load() {
			time.Sleep(10 * time.Millisecond)
		}
		r.s.end()
	})
	r.taken()
	r.delivered()
	r.count()
	sent := time.Since(began)
	if err := r.c.end(syscall.SIGTERM); err != nil {
		r.c.fatal(err.Error())
	}
	t.Logf("%d reports in %v; %s", r.s.sent.Load()*perPacket, sent.Round(time.Second), r.server.failed())
	r.refusedAll()
	r.stored()
	fmt.Println("| fault | lasts | reports meanwhile | waited on disk, at most | memory of collect | caught up after |\n|---|---|---:|---:|---:|---:|")
	fmt.Println(strings.Join(r.cells, "\n"))
}

// delivered waits until the outputs have settled all records.
func (r *run) delivered() {
	r.t.Helper()
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		m := r.c.look()
		if sum(m, "output_queued_records", "")+sum(m, "output_spooled_records", "") < 100 { // stats records are made all the time
			break
		}
		if time.Now().After(end) {
			r.c.fatal("not all is delivered")
		}
	}
	for name, n := range r.c.look() {
		if strings.HasPrefix(name, "output_dropped_records_total{") && n != 0 {
			r.c.fatal(fmt.Sprintf("%.0f records were dropped: %s", n, name))
		}
	}
}

// refusedAll checks that each datagram that is no report packet of a sink was counted, except
// those that were sent while the collector was killed.
func (r *run) refusedAll() {
	r.t.Helper()
	for i, kind := range []int{spoofed, garbage} {
		sent, got := r.s.others[kind].Load(), int64(r.refused[i])
		if got > sent || got < sent-sent/20-5 || got == 0 {
			r.t.Errorf("%d datagrams of kind %d sent, %d refused", sent, kind, got)
		}
	}
}

// stored compares both stores with the reports that were sent.
func (r *run) stored() {
	r.t.Helper()
	began := time.Now()
	for ; r.unread() > 0; time.Sleep(time.Second) {
		if time.Since(began) > 20*time.Minute {
			r.t.Fatalf("ClickHouse has not read %d records of Kafka", r.unread())
		}
	}
	r.t.Logf("ClickHouse read the rest from Kafka in %.0f s", time.Since(began).Seconds())
	r.compare("Kafka and ClickHouse", func(sql string) string { return r.ch.rows(strings.Replace(sql, "FROM faults", "FROM int.faults", 1)) })
	r.compare("ClickHouse over HTTP", func(sql string) string { return r.server.ask(sql + " FORMAT JSONEachRow") })
}

// unread returns how many records of the topic ClickHouse has not stored yet.
func (r *run) unread() (n int64) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	lags, err := r.admin.Lag(ctx, group)
	if err == nil {
		err = lags.Error()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return lags[group].Lag.Total()
}

func count(t testing.TB, row string) int {
	t.Helper()
	var n struct{ N int }
	if err := json.Unmarshal([]byte(row), &n); err != nil {
		t.Fatalf("%v: %s", err, row)
	}
	return n.N
}

// compare compares one store with the reports that were sent.
func (r *run) compare(store string, ask func(sql string) string) {
	r.t.Helper()
	const mine = " FROM faults WHERE type = 'report' AND node_id <= 4"
	distinct, rows := count(r.t, ask("SELECT toUInt32(uniqExact(id)) AS n"+mine)), count(r.t, ask("SELECT toUInt32(count()) AS n"+mine))
	sent := r.s.sent.Load()
	missing := make([]bool, sent)
	n := int64(0)
	for index := range perPacket {
		have := make([]bool, sent)
		sql := fmt.Sprintf("SELECT node_id, hw_id, groupUniqArray(toUInt32(bitAnd(sequence, 4194303))) AS numbers%s AND `index` = %d GROUP BY node_id, hw_id", mine, index)
		for line := range strings.Lines(ask(sql)) {
			var s struct {
				Node    uint32 `json:"node_id"`
				HwID    uint32 `json:"hw_id"`
				Numbers []int64
			}
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				r.t.Fatal(err)
			}
			for _, number := range s.Numbers {
				at := (number-firstNumber)&0x3fffff*streams + int64(s.HwID*sinks+s.Node-1)
				if at >= sent {
					r.t.Fatalf("%s: packet %d was not sent", store, at)
				}
				have[at] = true
			}
		}
		for at := range have {
			if !have[at] && !missing[at] {
				missing[at] = true
				n++
			}
		}
	}
	if spoofed := count(r.t, ask("SELECT toUInt32(count()) AS n FROM faults WHERE exporter LIKE '%127.0.0.66'")); spoofed != 0 {
		r.t.Errorf("%s: %d records of an address that is not allowed", store, spoofed)
	}
	outside, most := int64(0), int64(0)
	for _, w := range r.windows {
		most += w.most
	}
	for at := range missing {
		if missing[at] && !r.inWindow(int64(at)) {
			outside++
		}
	}
	r.t.Logf("%s: %d reports sent, %d of them before a collector read them lost; %d distinct ids in %d rows", store, sent*perPacket, n*perPacket, distinct, rows)
	if int64(distinct) != (sent-n)*perPacket {
		r.t.Errorf("%s: %d distinct ids, want %d", store, distinct, (sent-n)*perPacket)
	}
	if outside > r.lost || n > most+r.lost {
		r.t.Errorf("%s: %d packets are missing, %d of them although the collector read them; the sockets lost %d, SIGKILL at most %d", store, n, outside-r.lost, r.lost, most)
	}
}

func (r *run) inWindow(at int64) bool {
	for _, w := range r.windows {
		if at >= w.from && at < w.to {
			return true
		}
	}
	return false
}
