//go:build engines

package kafka

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
	"intsink/exporters/kafka/kafkatest"
)

// These run against Apache Kafka: make test-engines.

func admin(t *testing.T, brokers []string) *kadm.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return kadm.NewClient(client)
}

func createTopic(t *testing.T, c *kafkatest.Cluster, replicas int16, topic string) *kadm.Client {
	t.Helper()
	a := admin(t, c.Addresses())
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for { // the controllers elect a leader before they create a topic
		_, err := a.CreateTopic(ctx, 6, replicas, nil, topic)
		if err == nil {
			return a
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// kcat reads the topic with librdkafka, another implementation of the protocol, and
// returns how often each id came.
func kcat(t *testing.T, brokers []string, topic string) map[string]int {
	t.Helper()
	cmd := exec.Command("kcat", "-b", strings.Join(brokers, ","), "-C", "-t", topic, "-o", "beginning", "-e", "-q")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kcat: %v\n%s", err, stderr.String())
	}
	ids := map[string]int{}
	for line := range bytes.Lines(out) {
		var r struct{ ID, Type string }
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if r.Type == "report" {
			ids[r.ID]++
		}
	}
	return ids
}

// TestApacheKafka: one broker; kcat reads what was written, each record once.
func TestApacheKafka(t *testing.T) {
	c := kafkatest.Start(t, 1)
	for _, compression := range []Compression{LZ4, Zstd} {
		t.Run(string(compression), func(t *testing.T) {
			topic := "intsink." + string(compression)
			createTopic(t, c, 1, topic)
			conf := config(c.Addresses())
			conf.Compression, conf.Topic = compression, topic
			b := collecttest.New(t, collect.Options{}, 1<<30, output(t, conf))
			b.Send(5000)
			b.Wait("all is delivered", caughtUp(b))
			b.Stop()
			ids := kcat(t, c.Addresses(), topic)
			if len(ids) != 10000 {
				t.Errorf("%d distinct ids of 10000", len(ids))
			}
			wantAll(t, consumeTopic(t, topic, 10000, c.Addresses()), 5000)
		})
	}
}

// TestBrokersThatEnd: of three brokers, the leader of a partition is killed in the middle and comes back; then all three are restarted
// one after the other, under load. Every record is there once and in order.
func TestBrokersThatEnd(t *testing.T) {
	c := kafkatest.Start(t, 3)
	t.Run("leader is killed", func(t *testing.T) { leaderIsKilled(t, c) })
	t.Run("rolling restart", func(t *testing.T) { rollingRestart(t, c) })
}

func leaderIsKilled(t *testing.T, c *kafkatest.Cluster) {
	a := createTopic(t, c, 3, topic)
	b := collecttest.New(t, collect.Options{}, 1<<30, output(t, config(c.Addresses())))
	b.Send(3000)
	topics, err := a.ListTopics(context.Background(), topic)
	if err != nil {
		t.Fatal(err)
	}
	leader := int(topics[topic].Partitions[0].Leader)
	c.Kill(leader, syscall.SIGKILL)
	b.Send(3000)
	b.Wait("all is delivered without it", caughtUp(b))
	c.Restart(leader)
	b.Send(2000)
	b.Wait("all is delivered", caughtUp(b))
	b.Stop()
	if o := b.C.Snapshot().Outputs[0]; o.Dropped != [collect.NumReasons]uint64{} {
		t.Errorf("%+v", o)
	}
	wantAll(t, consume(t, 16000, c.Addresses()), 8000)
}

func rollingRestart(t *testing.T, c *kafkatest.Cluster) {
	const topic = "intsink.rolling"
	createTopic(t, c, 3, topic)
	conf := config(c.Addresses())
	conf.Topic = topic
	b := collecttest.New(t, collect.Options{}, 1<<30, output(t, conf))
	sent := 0
	for id := 1; id <= 3; id++ {
		b.Send(1000)
		c.Kill(id, syscall.SIGTERM)
		b.Send(1000)
		c.Restart(id)
		sent += 2000
	}
	b.Wait("all is delivered", caughtUp(b))
	b.Stop()
	wantAll(t, consumeTopic(t, topic, 2*sent, c.Addresses()), sent)
	if ids := kcat(t, c.Addresses(), topic); len(ids) != 2*sent {
		t.Errorf("%d distinct ids of %d", len(ids), 2*sent)
	}
}
