// Block flows, whole: the flow tables of workers.

package conf

import (
	"intsink/conf/schema"
	"math/bits"
	"time"
)

// Flows sizes the flow tables.
type Flows struct {
	Capacity    int // per worker, at least
	IdleTimeout time.Duration
	Key         FlowKey // "own" | "inner"
}

// Places is how many flows the table of a worker has room for: the next power of two.
func (f *Flows) Places() int { return 1 << bits.Len(uint(max(f.Capacity, 16)-1)) }

// FlowKey is flows.key: which headers flows are told apart by, where there are tunnels.
type FlowKey string

// The values of flows.key.
const (
	OwnKey   FlowKey = "own"
	InnerKey FlowKey = "inner"
)

func defaultFlows() Flows {
	return Flows{Capacity: 1048576, IdleTimeout: 30 * time.Second, Key: OwnKey}
}

func visitFlows(v schema.Visitor, f *Flows) {
	v.Attr("capacity", schema.Integer(&f.Capacity, 16, 1<<28))
	v.Attr("idle_timeout", schema.Duration(&f.IdleTimeout, minIdle, maxTime))
	v.Attr("key", schema.Choice(&f.Key, OwnKey, InnerKey))
}

const minIdle = 10 * time.Millisecond
