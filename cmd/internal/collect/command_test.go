package collect

import (
	"math"
	"os"
	"runtime/debug"
	"testing"

	"intsink/conf/collector"
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
		{"one to Kafka, one to ClickHouse", collector.Config{Kafkas: kafka, ClickHouses: make([]collector.ClickHouse, 1)}, 624 << 20},
		{"two files", collector.Config{Files: make([]collector.File, 2)}, 336 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := memoryLimit(&c.config); got != c.want {
				t.Errorf("%d MiB, want %d", got>>20, c.want>>20)
			}
		})
	}
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "1GiB")
	limitMemory(&collector.Config{})
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the limit became %d in spite of GOMEMLIMIT", got)
	}
	os.Unsetenv("GOMEMLIMIT")
	limitMemory(&collector.Config{Kafkas: kafka})
	if got := debug.SetMemoryLimit(math.MaxInt64); got != 432<<20 {
		t.Errorf("limit %d", got)
	}
}
