// Server: what it sees of the appliance, with interfaces of ports, exporters, gateways, pools; its routes.

// Package vitals tells what workers, collectors, ports and pools of a sink count, and whether they do what they are for:
// in /metrics, /healthz, /readyz and /api/v1/status, to which other parts add what they are (Fills).
package vitals

import (
	"fmt"
	"net/http"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/learned"
	"intsink/cmd/intsink/internal/part"
	"intsink/conf"
	"intsink/engine"
	"intsink/engine/series"
	"intsink/exporters"
	"intsink/exporters/port"
)

// Server tells of the appliance. Nothing in it changes while it serves; what its functions return does.
type Server struct {
	Version     string
	Started     time.Time
	Config      func() *conf.Config // in force now
	Clock       func() int64        // of the workers
	WallClock   func() int64        // by how much the wall clock is ahead of that; nil: by nothing
	Stopping    func() bool
	Workers     []*engine.Worker
	Links       []string           // names of links, then of taps, as the workers index them
	Collectors  func() []Collector // those of now
	Ports       []Port
	ReportPorts []ReportPort
	Mbufs       Pool
	ReportPools []Pool // per worker
	Degraded    *degraded.Parts
	Open        func() []*problem.Problem // problems of now; nil: nobody looks
	Fills       []part.Status             // other parts

	problems *problem.List
	counts   *series.Counts
}

// Start implements part.Part: it takes up the history of counters of before a restart. What it tells of and does not find in e the caller has set:
// collectors, ports, pools, and whether the sink is stopping.
func (s *Server) Start(e *part.Env) (stop func(), err error) {
	s.Version, s.Started, s.Config, s.Clock, s.WallClock, s.Workers = e.Version, time.Now(), e.Config, e.Clock, e.WallClock, e.Workers
	s.Links, s.Degraded, s.Open, s.Fills = e.Config().LinkNames(), e.Degraded, e.Problems.Open, part.All[part.Status](e)
	s.problems, s.counts = e.Problems, series.NewCounts()
	_, end := learned.Keep(e.State, e.Instance, learned.File{
		Name: "counts", Version: 1, What: "the history of counters", Every: time.Minute, Oldest: series.Minutes * time.Minute,
		Encode: func(int64) []byte { return s.counts.Encode() }, Decode: s.counts.Decode,
	})
	return func() { end() }, nil
}

// RegisterShared adds the routes whose answers cost something.
func (s *Server) RegisterShared(mux control.Mux) {
	mux.HandleFunc("GET /api/v1/status", func(w http.ResponseWriter, _ *http.Request) { control.Answer(w, http.StatusOK, s.Status()) })
}

// Register adds the routes of health.
func (s *Server) Register(mux control.Mux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.Healthy()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("verbose") {
			s.verbose(w)
			return
		}
		answer(w, s.Ready())
	})
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// Paths are what can be read.
func (s *Server) Paths() []string {
	return []string{"/healthz", "/readyz", "/readyz?verbose", "/api/v1/status"}
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
