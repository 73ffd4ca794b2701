//go:build engines

package collect

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"intsink/exporters/record"
)

const topic = "intsink.reports.v1"

// broker is a Kafka broker with the topic of records in it, and produce puts messages there.
func broker(t *testing.T) (address string, produce func(messages ...[]byte)) {
	t.Helper()
	k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(k.ListenAddrs()...), kgo.DefaultProduceTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return k.ListenAddrs()[0], func(messages ...[]byte) {
		t.Helper()
		var all []*kgo.Record
		for _, m := range messages {
			all = append(all, &kgo.Record{Value: m})
		}
		if err := client.ProduceSync(context.Background(), all...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// waitFor asks until the answer is the one that is wanted.
func (c *clickHouse) waitFor(sql, want string) {
	c.t.Helper()
	deadline := time.Now().Add(3 * time.Minute) // a Kafka engine hands over what it has read when it has time
	for {
		got := c.must(sql)
		if strings.TrimSpace(got) == want {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%s is %s, want %s; %s", sql, got, want, c.must("SELECT * FROM system.kafka_consumers FORMAT JSONEachRow"))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// TestKafkaEngine: records from Kafka stand in int.reports as those that come by HTTP do, in
// both encodings; a message that is no record stops nothing.
func TestKafkaEngine(t *testing.T) {
	n := day(time.Now().UTC().Truncate(time.Minute))
	lines := strings.SplitAfter(strings.TrimSpace(string(n.records)), "\n")
	direct := startClickHouse(t)
	direct.runFile("clickhouse.sql")
	direct.insert(n.records)
	const all = "SELECT * FROM int.reports ORDER BY id, type, toString(episodes)"
	want := rows(t, direct.must(all))

	t.Run("json", func(t *testing.T) {
		address, produce := broker(t)
		c := startClickHouse(t)
		c.runFile("clickhouse.sql")
		c.runFile("clickhouse-kafka.sql", "localhost:9092", address)
		produce([]byte("no record"))
		for _, line := range lines {
			produce([]byte(line))
		}
		produce([]byte(`{"v":1,"type":"gap","id":"later","time":"2026-01-01T00:00:00.000000000Z","a_field_of_a_later_version":{"x":1}}`))
		c.waitFor("SELECT count() AS n FROM int.reports WHERE id != 'later'", countRow(len(lines)))
		if got := rows(t, c.must(strings.Replace(all, "ORDER", "WHERE id != 'later' ORDER", 1))); !reflect.DeepEqual(got, want) {
			t.Errorf("rows from Kafka\n%v\nby HTTP\n%v", got, want)
		}
		c.waitFor("SELECT count() AS n FROM int.kafka_errors WHERE message = 'no record' AND error != ''", countRow(1))
		c.waitFor("SELECT sum(reports) > 0 AS n FROM int.hops", `{"n":1}`)
	})
	t.Run("protobuf", func(t *testing.T) {
		address, produce := broker(t)
		c := startClickHouse(t)
		c.schema()
		c.runFile("clickhouse.sql")
		c.runFile("clickhouse-protobuf.sql", "localhost:9092", address)
		for i, r := range n.all {
			if i == 5 {
				produce([]byte("no record"))
			}
			produce(record.AppendProto(nil, r))
		}
		c.waitFor("SELECT count() AS n FROM int.reports", countRow(len(lines)))
		c.waitFor("SELECT count() AS n FROM int.kafka_errors WHERE message = 'no record' AND error != ''", countRow(1))
		if got := rows(t, c.must(all)); !reflect.DeepEqual(got, want) {
			for i := range want {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Fatalf("from protobuf\n%v\nfrom JSON\n%v", got[i], want[i])
				}
			}
		}
	})
}

func countRow(n int) string {
	b, _ := json.Marshal(map[string]int{"n": n})
	return string(b)
}
