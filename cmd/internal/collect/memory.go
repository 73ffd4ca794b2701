// How much memory collect may take: from here on the garbage collector works harder.

package collect

import (
	"os"
	"runtime/debug"

	"intsink/conf/collector"
	"intsink/exporters/clickhouse"
	"intsink/exporters/collect"
)

// ownMemory is for sockets, decoders, aggregates, the runtime, and batches that wait to be
// used again.
const ownMemory = 128 << 20

// memoryLimit is one and a half times of what queues and outputs may hold: the garbage
// collector has the half to work in. Go's default would let the heap double.
func memoryLimit(c *collector.Config) int64 {
	hold := int64(ownMemory)
	for i := range c.Kafkas {
		hold += collect.DefaultQueue + c.Kafkas[i].Buffer
	}
	hold += int64(len(c.ClickHouses)) * (collect.DefaultQueue + 2*clickhouse.MaxBlock)
	hold += int64(len(c.Files)) * collect.DefaultQueue
	return hold / 2 * 3
}

// limitMemory tells the runtime, unless the environment has told it (GOMEMLIMIT).
func limitMemory(c *collector.Config) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(c))
	}
}
