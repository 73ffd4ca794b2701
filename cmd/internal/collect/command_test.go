package collect

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"intsink/conf/collector"
	"intsink/exporters/collect/spool"
)

// TestMemoryLimit: as docs/scale.md has it, and not over what the environment says.
func TestMemoryLimit(t *testing.T) {
	kafka := []collector.Kafka{{Buffer: 64 << 20}}
	for _, c := range []struct {
		name   string
		config collector.Config
		want   int64
	}{
		{"one to Kafka", collector.Config{Kafkas: kafka}, 432 << 20},
		{"one to Kafka, one to ClickHouse", collector.Config{Kafkas: kafka, ClickHouses: []collector.ClickHouse{{Rows: 200_000}}}, 815 << 20},
		{"the same in smaller blocks", collector.Config{Kafkas: kafka, ClickHouses: []collector.ClickHouse{{Rows: 50_000}}}, 624 << 20},
		{"two files", collector.Config{Files: make([]collector.File, 2)}, 336 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := memoryLimit(&c.config, spool.DefaultMemory); got>>20 != c.want>>20 {
				t.Errorf("%d MiB, want %d", got>>20, c.want>>20)
			}
		})
	}
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "1GiB")
	fitMemory(&collector.Config{}, 0, slog.New(slog.DiscardHandler))
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the limit became %d in spite of GOMEMLIMIT", got)
	}
	os.Unsetenv("GOMEMLIMIT")
	fitMemory(&collector.Config{Kafkas: kafka}, 0, slog.New(slog.DiscardHandler))
	if got := debug.SetMemoryLimit(math.MaxInt64); got != 432<<20 {
		t.Errorf("limit %d", got)
	}
}

// TestMemoryOfAContainer: queues and buffers fit a limit, or the log has both numbers.
func TestMemoryOfAContainer(t *testing.T) {
	both := func() *collector.Config {
		return &collector.Config{Kafkas: []collector.Kafka{{Buffer: 64 << 20}}, ClickHouses: []collector.ClickHouse{{Rows: 200_000}}}
	}
	for _, c := range []struct {
		config *collector.Config
		limit  int64
		queue  int64
		buffer int64
		rows   int
		log    string
	}{
		{both(), 0, 64 << 20, 64 << 20, 200_000, ""},
		{both(), 1 << 30, 64 << 20, 64 << 20, 200_000, ""},
		{both(), 768 << 20, 64 << 20, 64 << 20, 50_000, "smaller than usual"},
		{both(), 512 << 20, 16 << 20, 16 << 20, 50_000, "smaller than usual"},
		{both(), 192 << 20, 4 << 20, 4 << 20, 50_000, "may be ended by the kernel"},
		{&collector.Config{Files: make([]collector.File, 1)}, 256 << 20, 16 << 20, 0, 0, "smaller than usual"},
	} {
		var said bytes.Buffer
		queue := queueWithin(c.config, c.limit, slog.New(slog.NewTextHandler(&said, nil)))
		if queue != c.queue || len(c.config.Kafkas) > 0 && c.config.Kafkas[0].Buffer != c.buffer {
			t.Errorf("limit %d MiB: queues of %d MiB, want %d; %+v", c.limit>>20, queue>>20, c.queue>>20, c.config.Kafkas)
		}
		for _, h := range c.config.ClickHouses {
			if h.Rows != c.rows {
				t.Errorf("limit %d MiB: blocks of %d rows, want %d", c.limit>>20, h.Rows, c.rows)
			}
		}
		if got := said.String(); (got == "") != (c.log == "") || !strings.Contains(got, c.log) {
			t.Errorf("limit %d MiB: log %q, want %q", c.limit>>20, got, c.log)
		}
		if want := fmt.Sprintf("limit_bytes=%d wanted_bytes=", c.limit); c.log != "" && !strings.Contains(said.String(), want) {
			t.Errorf("the log lacks both numbers: %s", said.String())
		}
	}
}
