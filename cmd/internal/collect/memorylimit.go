// How much memory the log and outputs may hold, and the garbage collector works in; makes both fit
// what the control group of a container allows.

package collect

import (
	"log/slog"
	"os"
	"runtime/debug"

	"intsink/conf"
	"intsink/conf/collector"
	"intsink/exporters/clickhouse"
	"intsink/exporters/collect"
	"intsink/exporters/collect/spool"
	"intsink/exporters/ipfix"
)

// ownMemory is for sockets, decoders, aggregates, the runtime, and batches that wait to be
// used again.
const ownMemory int64 = 128 << 20

// memoryLimit returns one and a half times the bytes that a log of so many bytes in memory and the outputs may hold: the
// garbage collector works in the half. Go's default would let the heap double.
func memoryLimit(c *collector.Config, queue int64) int64 {
	hold := ownMemory + queue + recentOf(queue)
	for i := range c.Kafkas {
		hold += c.Kafkas[i].Buffer
	}
	for i := range c.ClickHouses {
		hold += 2 * clickhouse.BlockBytes(c.ClickHouses[i].Rows)
	}
	hold += int64(len(c.IPFIXes)) * ipfix.MaxHeld
	return hold / 2 * 3
}

// recentOf is the bytes of the latest batches that are kept beside a log of so many bytes.
func recentOf(queue int64) int64 { return queue * collect.DefaultRecent / spool.DefaultMemory }

// fewRows are those of a block where there is little memory: ClickHouse merges such blocks once more.
const fewRows = 50000

// leastQueue is the smallest log in memory, and the smallest buffer of Kafka: some batches.
const leastQueue = 4 << 20

// queueWithin returns the bytes of the log in memory, and makes c's blocks for ClickHouse and the buffers of its Kafka outputs
// smaller, so that all fits the limit of the control group, 0: none. It says what it changes, and
// what does not fit after all.
func queueWithin(c *collector.Config, limit int64, log *slog.Logger) int64 {
	queue, wanted := int64(spool.DefaultMemory), memoryLimit(c, spool.DefaultMemory)
	usable := limit / 10 * 9 // the rest is for buffers of the kernel, which count as well
	if limit == 0 || wanted <= usable {
		return queue
	}
	for i := range c.ClickHouses {
		c.ClickHouses[i].Rows = min(c.ClickHouses[i].Rows, fewRows)
	}
	for queue > leastQueue && memoryLimit(c, queue) > usable {
		queue /= 2
		for i := range c.Kafkas {
			c.Kafkas[i].Buffer = min(c.Kafkas[i].Buffer, queue)
		}
	}
	args := []any{"limit_bytes", limit, "wanted_bytes", wanted, "queue_bytes", queue}
	if least := memoryLimit(c, queue); least > usable {
		log.Warn("memory: this may be ended by the kernel while outputs are away: the limit of its control group (of the container, MemoryMax) is less than even a small log in memory and the outputs' own buffers take; "+
			"allow more, or have fewer outputs", append(args, "least_bytes", least/9*10)...)
		return queue
	}
	log.Warn("memory: the log in memory, buffers of Kafka and blocks for ClickHouse are smaller than usual, to fit the limit of the control group (of the container, MemoryMax)", args...)
	return queue
}

// fitMemory sizes what c holds in memory, and tells the runtime, unless the environment has told it
// (GOMEMLIMIT). It returns the bytes of the log in memory.
func fitMemory(c *collector.Config, limit int64, log *slog.Logger) int64 {
	queue := queueWithin(c, limit, log)
	if os.Getenv("GOMEMLIMIT") == "" {
		most := memoryLimit(c, queue)
		if limit != 0 {
			most = min(most, limit/10*9)
		}
		debug.SetMemoryLimit(most)
	}
	return queue
}

// groupLimit is the limit of this process's control group, 0: none.
func groupLimit() int64 { return int64(conf.MemoryLimit()) }
