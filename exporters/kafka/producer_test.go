package kafka

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
	"intsink/internal/loopback"
)

const topic = "intsink.reports.v1"

func cluster(t testing.TB, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(3), kfake.SeedTopics(12, topic)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// said collects the lines that an output logs.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) say(msg string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprint(append([]any{msg}, args...)...))
}

func (s *said) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(strings.Join(s.lines, "\n"), text)
}

func config(brokers []string) Config {
	return Config{Brokers: brokers, Topic: topic, Key: "flow", Compression: "lz4", Linger: time.Millisecond, Buffer: 64 << 20, Log: func(string, ...any) {}}
}

func output(t testing.TB, c Config) *Output {
	t.Helper()
	o, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// message is one record as a consumer sees it.
type message struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Sequence  uint64 `json:"sequence"`
	Index     int    `json:"index"`
	Flow      string `json:"flow"`
	partition int32
	key       string
}

// consume reads the topic until it has n records of type report, and returns these and the
// records of other types that came with them.
func consume(t testing.TB, n int, brokers []string) (all []message) {
	t.Helper()
	return consumeTopic(t, topic, n, brokers)
}

func consumeTopic(t testing.TB, topic string, n int, brokers []string) (all []message) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for reports := 0; reports < n; {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("%d of %d reports consumed: %v", reports, n, fetches.Errors())
		}
		fetches.EachRecord(func(r *kgo.Record) {
			m := message{partition: r.Partition, key: string(r.Key)}
			if err := json.Unmarshal(r.Value, &m); err != nil {
				t.Fatal(err)
			}
			all = append(all, m)
			if m.Type == "report" {
				reports++
			}
		})
	}
	return all
}

// wantAll fails the test unless all holds the reports of packets 0 to n-1, each id once,
// and those of one flow in order on one partition.
func wantAll(t testing.TB, all []message, n int) {
	t.Helper()
	ids, last, at := map[string]int{}, map[string]uint64{}, map[string]int32{}
	for _, m := range all {
		ids[m.ID]++
		if m.Type != "report" {
			continue
		}
		flow := m.key
		if place := m.Sequence*2 + uint64(m.Index) + 1; place <= last[flow] {
			t.Errorf("flow %s: place %d behind %d", flow, place, last[flow])
		} else {
			last[flow] = place
		}
		if p, ok := at[flow]; ok && p != m.partition {
			t.Errorf("flow %s is on partitions %d and %d", flow, p, m.partition)
		}
		at[flow] = m.partition
	}
	reports := 0
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%s came %d times", id, n)
		}
		if !strings.HasSuffix(id, "stats") && !strings.HasSuffix(id, "gap") {
			reports++
		}
	}
	if reports != 2*n {
		t.Errorf("%d reports, want %d", reports, 2*n)
	}
}

func caughtUp(b *collecttest.Bed) func() bool {
	return func() bool { o := b.C.Snapshot().Outputs[0]; return o.Live && o.Queued == 0 && o.Waiting == 0 }
}

// TestOrderAndSpread: both directions of a flow are on one partition, in order, and flows
// are spread over all partitions.
func TestOrderAndSpread(t *testing.T) {
	for _, compression := range []Compression{LZ4, Zstd, "none"} {
		t.Run(string(compression), func(t *testing.T) {
			t.Parallel()
			c := cluster(t)
			conf := config(c.ListenAddrs())
			conf.Compression = compression
			b := collecttest.New(t, collect.Options{}, 0, output(t, conf))
			b.Send(1000)
			b.Wait("all is delivered", caughtUp(b))
			b.Stop()
			all := consume(t, 2000, c.ListenAddrs())
			wantAll(t, all, 1000)
			count := map[int32]int{}
			for _, m := range all {
				count[m.partition]++
			}
			// 64 flows on 12 partitions: chi-square, 11 degrees of freedom, p = 0.0001.
			chi := 0.0
			for p := range int32(12) {
				flows := float64(count[p]) * collecttest.Flows / 2000
				chi += (flows - 64.0/12) * (flows - 64.0/12) / (64.0 / 12)
			}
			if chi > 37.4 {
				t.Errorf("chi-square %.1f: %v", chi, count)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	for key, want := range map[Key]int{ByNode: 1, NoKey: 1, ByFlow: collecttest.Flows} {
		t.Run(string(key), func(t *testing.T) {
			c := cluster(t)
			conf := config(c.ListenAddrs())
			conf.Key = key
			b := collecttest.New(t, collect.Options{}, 0, output(t, conf))
			b.Send(200)
			b.Stop()
			keys := map[string]bool{}
			for _, m := range consume(t, 400, c.ListenAddrs()) {
				if m.Type == "report" {
					keys[m.key] = true
				}
			}
			if len(keys) != want || key == "node" && !keys["3"] || key == "none" && !keys[""] {
				t.Errorf("keys %v", keys)
			}
		})
	}
}

// TestInjectedErrors: a broker answers with errors, to some batches after it has stored
// them; no record is lost, and none is stored twice.
func TestInjectedErrors(t *testing.T) {
	for _, err := range []*kerr.Error{
		kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.NotEnoughReplicas, kerr.NotEnoughReplicasAfterAppend,
		kerr.RequestTimedOut, kerr.KafkaStorageError, kerr.ThrottlingQuotaExceeded,
	} {
		t.Run(err.Message, func(t *testing.T) {
			t.Parallel()
			c := cluster(t)
			h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: err, Count: 5})
			b := collecttest.New(t, collect.Options{}, 1<<30, output(t, config(c.ListenAddrs())))
			b.Send(500)
			b.Wait("all is delivered", caughtUp(b))
			b.Stop()
			wantAll(t, consume(t, 1000, c.ListenAddrs()), 500)
			if h.Hits() == 0 {
				t.Error("the fault was not injected")
			}
		})
	}
}

// TestTopicIsMissing: records wait until somebody creates the topic, and the log says so.
func TestTopicIsMissing(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var log said
	b := collecttest.New(t, collect.Options{Recent: 20000, Log: logTo(&log)}, 1<<30, output(t, config(c.ListenAddrs())))
	b.Send(300)
	b.Wait("the log names the topic", func() bool { return log.has("create it") })
	b.Wait("it takes nothing, but while it tries again", func() bool {
		o := b.C.Snapshot().Outputs[0]
		return o.Delivered == 0 && !o.Takes
	})
	if err := c.CreateTopic(topic, 3, nil); err != nil {
		t.Fatal(err)
	}
	b.Wait("all is delivered", caughtUp(b))
	b.Stop()
	wantAll(t, consume(t, 600, c.ListenAddrs()), 300)
}

// TestTopicIsCreatedAnew: a topic that is deleted and created again under its name gets the records from then on, and the
// log says what happened; those that wait meanwhile are not lost.
func TestTopicIsCreatedAnew(t *testing.T) {
	c := cluster(t)
	var log said
	b := collecttest.New(t, collect.Options{Queue: 20000, Log: logTo(&log)}, 1<<30, output(t, config(c.ListenAddrs())))
	b.Send(100)
	b.Wait("the first are delivered", caughtUp(b))
	admin, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	gone := kmsg.NewDeleteTopicsRequest()
	name := topic
	gone.TopicNames = []string{name}
	gone.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: &name}}
	answer, err := gone.RequestWith(context.Background(), admin)
	if err != nil || len(answer.Topics) != 1 || answer.Topics[0].ErrorCode != 0 {
		t.Fatal(err, answer)
	}
	if err := c.CreateTopic(topic, 3, nil); err != nil {
		t.Fatal(err)
	}
	b.Send(200)
	b.Wait("all is delivered to the new topic", caughtUp(b))
	b.Stop()
	if !log.has("deleted and created again") {
		t.Errorf("the log does not say it: %q", log.lines)
	}
	seen := map[string]bool{}
	for _, m := range consume(t, 400, c.ListenAddrs()) {
		if m.Type == "report" {
			seen[m.ID] = true
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d reports in the new topic, want 400", len(seen))
	}
}

// TestTooLarge: a topic that takes small batches only gets small batches; a record that is
// larger than such a batch is dropped and counted.
func TestTooLarge(t *testing.T) {
	c := cluster(t)
	// kfake does not check the topic's limit: a fault answers in its place.
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.MessageTooLarge, Count: -1, When: func(r kmsg.Request) bool {
		for _, t := range r.(*kmsg.ProduceRequest).Topics {
			for _, p := range t.Partitions {
				if len(p.Records) > 8000 {
					return true
				}
			}
		}
		return false
	}})
	conf := config(c.ListenAddrs())
	conf.Compression, conf.Linger = "none", 50*time.Millisecond
	conf.Key = "node"
	b := collecttest.New(t, collect.Options{}, 0, output(t, conf))
	b.Send(500)
	b.Wait("all is delivered", caughtUp(b))
	b.Stop()
	if o := b.C.Snapshot().Outputs[0]; o.Dropped != [collect.NumReasons]uint64{} || o.Retried == 0 {
		t.Errorf("%+v", o)
	}
	consume(t, 1000, c.ListenAddrs())
}

// TestNotAllowed: without the right to write, records wait; the log names the rights.
func TestNotAllowed(t *testing.T) {
	c := cluster(t, kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("SCRAM-SHA-256", "admin", "secret"), kfake.User("SCRAM-SHA-512", "intsink", "sink"))
	conf := config(c.ListenAddrs())
	conf.SASL = &SASL{"scram-sha-512", "intsink", passwordFile(t, "sink\n")}
	var log said
	b := collecttest.New(t, collect.Options{Log: logTo(&log)}, 0, output(t, conf))
	b.Send(10)
	b.Wait("the log names the rights", func() bool { return log.has("Describe and Write") })
	admin := scramClient(t, c.ListenAddrs())
	defer admin.Close()
	req := kmsg.NewPtrCreateACLsRequest()
	for _, op := range []kmsg.ACLOperation{kmsg.ACLOperationWrite, kmsg.ACLOperationDescribe} {
		req.Creations = append(req.Creations, kmsg.CreateACLsRequestCreation{
			ResourceType: kmsg.ACLResourceTypeTopic, ResourceName: topic, ResourcePatternType: kmsg.ACLResourcePatternTypeLiteral,
			Principal: "User:intsink", Host: "*", Operation: op, PermissionType: kmsg.ACLPermissionTypeAllow,
		})
	}
	if _, err := req.RequestWith(context.Background(), admin); err != nil {
		t.Fatal(err)
	}
	b.Wait("all is delivered", caughtUp(b))
	b.Stop()
}

// TestNoProducerID: a broker refuses the id of a producer with an error that the client keeps. Records
// wait, the log says why, and each arrives once as soon as the broker gives an id. The client is not
// replaced more often than the waits between attempts allow.
func TestNoProducerID(t *testing.T) {
	for _, err := range []*kerr.Error{kerr.ClusterAuthorizationFailed, kerr.TopicAuthorizationFailed, kerr.UnknownServerError} {
		t.Run(err.Message, func(t *testing.T) {
			t.Parallel()
			c := cluster(t)
			h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.InitProducerID}, Err: err, Count: 3})
			var log said
			began := time.Now()
			b := collecttest.New(t, collect.Options{Log: logTo(&log)}, 1<<30, output(t, config(c.ListenAddrs())))
			b.Send(100)
			b.Wait("all is delivered", caughtUp(b))
			if took := time.Since(began); took < 700*time.Millisecond { // 0.1, 0.2 and 0.4 s
				t.Errorf("three refusals within %v", took)
			}
			b.Send(100)
			b.Wait("all is delivered", caughtUp(b))
			b.Stop()
			if o := b.C.Snapshot().Outputs[0]; o.Dropped != [collect.NumReasons]uint64{} {
				t.Errorf("%+v", o)
			}
			wantAll(t, consume(t, 400, c.ListenAddrs()), 200)
			if h.Hits() != 3 || !log.has(err.Message) {
				t.Errorf("%d refusals; logged %q", h.Hits(), log.lines)
			}
		})
	}
}

// TestTLSAndSASL logs in with each mechanism, over TLS with a client certificate, and checks
// the log line that a wrong password gives.
func TestTLSAndSASL(t *testing.T) {
	files, server := certificates(t)
	for _, mechanism := range []Mechanism{Plain, ScramSHA256, "scram-sha-512"} {
		t.Run(string(mechanism), func(t *testing.T) {
			c := cluster(t, kfake.TLS(server), kfake.EnableSASL(), kfake.Superuser(strings.ToUpper(string(mechanism)), "intsink", "sink"))
			conf := config(c.ListenAddrs())
			conf.TLS = files
			conf.SASL = &SASL{mechanism, "intsink", passwordFile(t, "wrong")}
			var log said
			conf.Log = log.say
			b := collecttest.New(t, collect.Options{}, 0, output(t, conf))
			b.Send(50)
			b.Wait("the log names the failure", func() bool { return log.has("no connection") })
			os.WriteFile(conf.SASL.PasswordFile, []byte("sink\n"), 0o600)
			b.Wait("all is delivered", caughtUp(b))
			b.Stop()
		})
	}
}

// TestBrokerAway: the broker stops while records are sent and comes back with its log.
// Nothing blocks meanwhile, memory is bounded, and every record arrives once.
func TestBrokerAway(t *testing.T) {
	port := loopback.Port(t)
	dir := kfake.DataDir(t.TempDir())
	start := func() *kfake.Cluster {
		c, err := kfake.NewCluster(kfake.Ports(port), kfake.SeedTopics(6, topic), dir)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := start()
	brokers := c.ListenAddrs()
	conf := config(brokers)
	conf.Buffer = 100 << 10
	b := collecttest.New(t, collect.Options{Recent: 50000}, 1<<30, output(t, conf))
	b.Send(300)
	c.Close()
	b.Send(1500)
	if o := b.C.Snapshot().Outputs[0]; o.Waiting == 0 || o.Live {
		t.Errorf("%+v", o)
	}
	c = start()
	defer c.Close()
	b.Send(200)
	b.Wait("all is delivered", func() bool { return b.C.Snapshot().Outputs[0].Delivered >= 4000 })
	b.Stop()
	if o := b.C.Snapshot().Outputs[0]; o.Dropped != [collect.NumReasons]uint64{} || o.Waiting != 0 {
		t.Errorf("%+v", o)
	}
	wantAll(t, consume(t, 4000, brokers), 2000)
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	os.WriteFile(empty, nil, 0o600)
	for want, change := range map[string]func(*Config){
		"no such file":          func(c *Config) { c.SASL = &SASL{"plain", "x", dir + "/none"} },
		"is empty":              func(c *Config) { c.SASL = &SASL{"plain", "x", empty} },
		"tls.ca":                func(c *Config) { c.TLS = &TLS{CA: dir + "/none"} },
		"no certificate in PEM": func(c *Config) { c.TLS = &TLS{CA: empty} },
		"tls.certificate":       func(c *Config) { c.TLS = &TLS{Certificate: empty, Key: empty} },
	} {
		conf := config([]string{"127.0.0.1:1"})
		change(&conf)
		if _, err := New(conf); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func passwordFile(t testing.TB, text string) string {
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func scramClient(t testing.TB, brokers []string) *kgo.Client {
	m, err := (&SASL{"scram-sha-256", "admin", passwordFile(t, "secret")}).mechanism()
	if err != nil {
		t.Fatal(err)
	}
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.SASL(m))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// certificates makes one certificate, which signs itself and serves as authority, server and
// client.
func certificates(t testing.TB) (*TLS, *tls.Config) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	os.WriteFile(dir+"/cert.pem", cert, 0o600)
	os.WriteFile(dir+"/key.pem", private, 0o600)
	pair, err := tls.X509KeyPair(cert, private)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return &TLS{CA: dir + "/cert.pem", Certificate: dir + "/cert.pem", Key: dir + "/key.pem"},
		&tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
}
