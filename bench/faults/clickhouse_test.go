//go:build engines

package faults

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clickHouse runs ClickHouse in a process of its own, which reads records from Kafka.
type clickHouse struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
}

// startClickHouse starts ClickHouse. It ends with the test.
func startClickHouse(t testing.TB) *clickHouse {
	t.Helper()
	modules := filepath.Join(os.Getenv("INTSINK_ENGINES"), "chdb", "node_modules")
	if _, err := os.Stat(modules); err != nil {
		t.Fatalf("%v: make deps-engines installs it", err)
	}
	cmd := exec.Command("node", filepath.Join("..", "..", "deploy", "collect", "testdata", "chdb.js"), t.TempDir())
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &clickHouse{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

// readKafka makes ClickHouse's Kafka engine read the topic from now on. The table has only the
// columns that tell records apart: with all columns of deploy/collect/clickhouse.sql, a record
// costs ClickHouse seven times as much.
func (c *clickHouse) readKafka(brokers []string) {
	c.t.Helper()
	const columns = " (id String, type LowCardinality(String), exporter String, node_id UInt32, hw_id UInt8, sequence UInt64, `index` UInt16) "
	c.rows("CREATE DATABASE int")
	c.rows("CREATE TABLE int.faults" + columns + "ENGINE = MergeTree ORDER BY (node_id, hw_id, sequence)")
	c.rows("CREATE TABLE int.kafka" + columns + "ENGINE = Kafka SETTINGS kafka_broker_list = '" + strings.Join(brokers, ",") +
		"', kafka_topic_list = '" + topic + "', kafka_group_name = '" + group + "', kafka_format = 'JSONEachRow', kafka_num_consumers = 2, kafka_thread_per_consumer = 1, input_format_skip_unknown_fields = 1")
	c.rows("CREATE MATERIALIZED VIEW int.kafka_mv TO int.faults AS SELECT * FROM int.kafka")
}

// group is the name of ClickHouse's consumer group.
const group = "clickhouse"

// rows runs a query and returns its rows as JSON, one a line.
func (c *clickHouse) rows(sql string) string {
	c.t.Helper()
	b, err := json.Marshal(map[string]string{"sql": sql})
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(b, '\n')); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		c.t.Fatalf("ClickHouse ended: %v", err)
	}
	var answer struct{ Text, Error string }
	if err := json.Unmarshal(line, &answer); err != nil || answer.Error != "" {
		c.t.Fatalf("%v %s\n%s", err, answer.Error, sql)
	}
	return answer.Text
}
