// Source: declares what the HTTP endpoint sees of the appliance: interfaces of ports,
// exporters, gateways, pools.

package observe

import (
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/confighistory"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/livecapture"
	"intsink/cmd/intsink/internal/mitigation"
	"intsink/cmd/intsink/internal/network"
	"intsink/cmd/intsink/internal/webhook"
	"intsink/conf"
	"intsink/engine"
	"intsink/engine/series"
	"intsink/exporters"
	"intsink/exporters/port"
)

// Source is the appliance as its endpoint shows it. Nothing in it changes while it is
// served; what its functions return does.
type Source struct {
	Version     string
	Started     time.Time
	Config      func() *conf.Config // in force now
	Clock       func() int64        // of the workers
	WallClock   func() int64        // by how much the wall clock is ahead of that; nil: by nothing
	Stopping    func() bool
	Mitigation  *mitigation.Server  // nil: nothing can be mitigated
	Control     *control.Server     // nil: nothing can be done to the sink
	Modes       *failopen.Server    // nil: all is done with packets, always
	Live        *Live               // nil: one of the source's own
	Capture     *livecapture.Server // nil: packets cannot be captured
	Workers     []*engine.Worker
	Links       []string           // names of links, then of taps, as the workers index them
	Collectors  func() []Collector // those of now
	Ports       []Port
	ReportPorts []ReportPort
	Mbufs       Pool
	ReportPools []Pool // per worker
	Degraded    *degraded.Parts
	History     *confighistory.Server // nil: one that knows no configuration
	Hooks       *webhook.Hooks        // nil: there are none
	Problems    *problem.List         // nil: one of the source's own, at which nobody looks

	Network *network.Network // what the workers told of it
	Counts  *series.Counts   // how counters of the sink grew

	api     *flowapi.API // made by handler
	process processText
}

// Collector is where reports go.
type Collector struct {
	Name     string
	Exporter Exporter
	Gateway  Gateway // nil where the kernel sends
	Rings    []Ring  // of each worker; none where the workers send themselves
}

// Ring is where sealed report packets of one worker wait for the exporter.
type Ring interface {
	Len() int
	Size() int
}

// Exporter is what sends report packets.
type Exporter interface{ Counters() exporters.Counters }

// Gateway is the next hop of reports that leave by a DPDK port.
type Gateway interface{ Resolved() bool }

// Port is a port of the configuration.
type Port struct {
	Name   string
	Device Device
	Aside  bool // for reports only: without it all else is done
}

// Device is a network device.
type Device interface {
	LinkDown() string // what is wrong with the link, empty where it is up
	LinkChanges() uint64
	Counters() (PortCounters, error)
}

// PortCounters are a port's counters as its driver keeps them.
type PortCounters struct {
	RxPackets, TxPackets uint64
	RxBytes, TxBytes     uint64
	RxMissed             uint64 // dropped by the hardware: its queue was full
	RxErrors, TxErrors   uint64
	RxNoMbuf             uint64 // dropped by the driver: the pool was empty
	RxTruncated          uint64 // dropped by a kernel port: the frame was longer than could be received whole

	// RxUncut are the packets that a kernel port dropped because it could not do what the kernel
	// left to it, by reason: in joined frames that it cannot cut, or without a checksum.
	RxUncut map[string]uint64
}

// ReportPort is a port that reports leave by.
type ReportPort struct {
	Name string
	Port *port.Port
}

// Pool is the pool of packets.
type Pool interface {
	InUse() int
	Size() int
}
