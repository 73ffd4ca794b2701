package observe

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/cmd/intsink/internal/part"
	"intsink/cmd/intsink/internal/vitals"
	"intsink/cmd/intsink/internal/webhook"
	"intsink/conf"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/engine/aside/recorder"
	"intsink/engine/burst"
	"intsink/engine/enginetest/workertest"
	"intsink/engine/histogram"
	"intsink/engine/metric"
	"intsink/engine/reporting"
	"intsink/exporters/port"
	"intsink/exporters/udp"
)

// TestLabelsAreEscaped: whatever the configuration names things.
func TestLabelsAreEscaped(t *testing.T) {
	x := newExposition()
	x.add([]metric.Bound{{Name: "intsink_flows", Samples: func(to metric.Samples) { to.Add(7, "worker", "a\"b\\c\nd\x01ü", "other", 1) }}})
	var b bytes.Buffer
	if err := x.writeTo(&b); err != nil {
		t.Fatal(err)
	}
	if p := observetest.Parse(t, b.String()); len(p.Series) != 1 {
		t.Errorf("%s", b.String())
	}
}

// device is a device whose every counter is another number.
type device struct{ down bool }

func (d device) LinkDown() string {
	if d.down {
		return "unplugged"
	}
	return ""
}

func (d device) LinkChanges() uint64 { return 10 }

func (device) Counters() (vitals.PortCounters, error) {
	return vitals.PortCounters{
		RxPackets: 1, TxPackets: 2, RxBytes: 3, TxBytes: 4, RxMissed: 5, RxErrors: 6, TxErrors: 7, RxNoMbuf: 8, RxTruncated: 9,
		RxUncut: map[string]uint64{"headers": 11},
	}, nil
}

type pool struct{}

func (pool) InUse() int { return 9 }
func (pool) Size() int  { return 10 }

type gateway struct{}

func (gateway) Resolved() bool { return true }

// unloadable is a sink that refuses to reload.
type unloadable struct{}

func (unloadable) Reload(string, *control.Request) *control.Result {
	return &control.Result{Error: "not valid"}
}
func (unloadable) Upgrade(string, *control.Request) (*control.Result, error) {
	return nil, errors.New("no program")
}

func (unloadable) Confirm(string, bool) (*control.Result, error) { return nil, errors.New("no trial") }
func (unloadable) Config() *conf.Config                          { return &conf.Config{HTTP: conf.HTTP{LocalReads: true}} }

// controlled is a sink with the configuration at c.hcl, whose reload was refused.
func controlled(t *testing.T) *control.Server {
	t.Helper()
	c := &control.Server{Sink: unloadable{}, State: control.NewState("c.hcl", "abc", time.Unix(1000, 0)), Writes: control.NewWrites(slog.Default)}
	c.State.Done(&control.Result{Error: "not valid", By: "SIGHUP", Time: time.Unix(2000, 0)})
	return c
}

// modes is a sink that was asked for pass, with a bypass switch that nobody has moved.
func modes() *failopen.Server {
	c := &conf.Config{Bypass: conf.Bypass{Command: []string{"/bin/true"}}}
	m := &failopen.Controller{Config: func() *conf.Config { return c }, Wall: func() time.Time { return time.Unix(1000, 0) }, Watchdog: &failopen.Watchdog{Config: func() *conf.Bypass { return &c.Bypass }}}
	m.BeginIn(failopen.Asked{Mode: failopen.Pass, Why: "asked for at start"})
	return &failopen.Server{Controller: m}
}

// TestEveryMetricIsWritten: /metrics has what docs/metrics.md has, and says the same of it.
func TestEveryMetricIsWritten(t *testing.T) {
	w := workertest.New(t, func(c *engine.WorkerConfig) {
		c.Links, c.Outlets = []burst.Link{{Name: "edge"}}, []reporting.Outlet{{Ring: ring.New(2)}}
		c.Rules = &engine.Rules{Collectors: []reporting.Collector{{Name: "primary", MaxPayload: 1000}}}
		c.Recorder, c.Clock = recorder.LeastMemory, func() int64 { return 1000 }
	})
	s := source(w)
	s.control(t, controlled(t))
	v := s.vitals
	v.Clock, v.WallClock = func() int64 { return 2.5e9 + 1000 }, func() int64 { return -37_500e6 }
	v.Links, v.ReportPools = []string{"edge"}, []vitals.Pool{pool{}}
	v.Collectors = func() []vitals.Collector {
		return []vitals.Collector{{Name: "primary", Exporter: udp.New(udp.Config{}), Gateway: gateway{}, Rings: []vitals.Ring{ring.New(8)}}, {Name: "kernel", Exporter: udp.New(udp.Config{})}}
	}
	v.Ports, v.ReportPorts = []vitals.Port{{Name: "network", Device: device{}}}, []vitals.ReportPort{{Name: "telemetry", Port: port.New(port.MAC{})}}
	v.Degraded = degraded.New(func() time.Time { return time.Unix(1000, 0) }, slog.Default)
	v.Degraded.Set("http", "pprof", errors.New("taken"))
	hooks := new(webhook.Hooks)
	stop, err := hooks.Start(&part.Env{Config: func() *conf.Config { return &conf.Config{Notify: []conf.Notify{{Name: "ops"}}} }, Degraded: v.Degraded})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	s.Parts = append(s.Parts, hooks)
	var b bytes.Buffer
	if err := s.writeMetrics(&b); err != nil {
		t.Fatal(err)
	}
	p := observetest.Parse(t, b.String())
	if one, since := p.Series[`intsink_degraded{part="http",name="pprof"}`], p.Series[`intsink_degraded_since_timestamp_seconds{part="http",name="pprof"}`]; one != 1 || since != 1000 {
		t.Errorf("degraded %v since %v", one, since)
	}
	documented := observetest.Documented(t, "../../../..")
	for name, help := range documented {
		if p.Help[name] != help || strings.HasSuffix(name, "_total") != (p.Kind[name] == "counter") {
			t.Errorf("docs/metrics.md says of %s %q; it is a %s: %q", name, help, p.Kind[name], p.Help[name])
		}
	}
	for name, help := range p.Help {
		if _, is := documented[name]; strings.HasPrefix(name, "intsink_") && !is {
			t.Errorf("docs/metrics.md lacks %s: %s", name, help)
		}
	}
	if reach := p.Series[`intsink_recorder_reach_seconds{worker="w0"}`]; reach != 2.5 {
		t.Errorf("the recorder reaches %v s back", reach)
	}
	for name, want := range map[string]float64{
		"rx_packets_total": 1, "tx_packets_total": 2, "rx_bytes_total": 3, "tx_bytes_total": 4,
		"rx_missed_total": 5, "rx_errors_total": 6, "tx_errors_total": 7, "rx_nombuf_total": 8,
		"rx_truncated_total": 9, "link_changes_total": 10, "link_up": 1,
	} {
		t.Run(name, func(t *testing.T) {
			if got := p.Series["intsink_port_"+name+`{port="network"}`]; got != want {
				t.Errorf("%s %v, want %v", name, got, want)
			}
		})
	}
	for series, want := range map[string]float64{
		`intsink_port_rx_uncut_total{port="network",reason="headers"}`: 11,
		"intsink_config_last_reload_successful":                        0, "intsink_config_last_reload_success_timestamp_seconds": 1000,
		`intsink_flow_capacity{worker="w0"}`: 1024, `intsink_report_mbufs{worker="w0"}`: 10, `intsink_report_mbufs_in_use{worker="w0"}`: 9,
		`intsink_report_delay_seconds_bucket{collector="kernel",le="1e-06"}`: 0, `intsink_hop_latency_seconds_count`: 0, `intsink_link_latency_seconds_sum`: 0,
		`intsink_burst_size_bucket{worker="w0",le="+Inf"}`: 0, `intsink_burst_size_count{worker="w0"}`: 0, `intsink_worker_polls_total{worker="w0",result="empty"}`: 0,
		`intsink_mode{mode="pass"}`: 1, `intsink_mode{mode="full"}`: 0, `intsink_mode_changes_total{mode="strip"}`: 0, "intsink_bypass_active": 0, `intsink_bypass_commands_total{result="failed"}`: 0,
		"intsink_config_trial": 0, `intsink_config_trials_total{result="poll_gap"}`: 0, `intsink_report_ring_packets{collector="primary",worker="w0"}`: 0, `intsink_report_ring_capacity{collector="primary",worker="w0"}`: 8,
		"intsink_config_generation": 1, `intsink_config_info{sha256="abc"}`: 1, `intsink_api_writes_total{result="forbidden"}`: 0,
	} {
		t.Run(series, func(t *testing.T) {
			if got, ok := p.Series[series]; !ok || got != want {
				t.Errorf("%s %v, want %v", series, got, want)
			}
		})
	}
	if p.Series["intsink_mbufs_in_use"] != 9 || p.Series["intsink_mbufs"] != 10 || p.Series["intsink_clock_offset_seconds"] != -37.5 || p.Series[`intsink_gateway_known{collector="primary"}`] != 1 {
		t.Errorf("%v", p.Series)
	}
}

// TestTimes: buckets are in seconds and add up, the first ones may be one.
func TestTimes(t *testing.T) {
	var gaps, h histogram.Histogram
	gaps.Classes[0] = 97
	gaps.Observe(100e3)
	gaps.Observe(3e6)
	gaps.Observe(20e9)
	gaps.Sum = 5e9
	h.Observe(1500)
	x := newExposition()
	x.add([]metric.Bound{
		{Name: "intsink_poll_gap_seconds", Samples: func(to metric.Samples) { to.Times(&gaps, 6, "worker", "w0") }},
		{Name: "intsink_hop_latency_seconds", Samples: func(to metric.Samples) { to.Times(&h, 0) }},
	})
	var b bytes.Buffer
	if err := x.writeTo(&b); err != nil {
		t.Fatal(err)
	}
	got := observetest.Parse(t, b.String()).Series
	for series, want := range map[string]float64{
		`intsink_poll_gap_seconds_bucket{worker="w0",le="0.0001"}`: 98, `intsink_poll_gap_seconds_bucket{worker="w0",le="0.002"}`: 98,
		`intsink_poll_gap_seconds_bucket{worker="w0",le="0.005"}`: 99, `intsink_poll_gap_seconds_bucket{worker="w0",le="+Inf"}`: 100,
		`intsink_poll_gap_seconds_count{worker="w0"}`: 100, `intsink_poll_gap_seconds_sum{worker="w0"}`: 5,
		`intsink_hop_latency_seconds_bucket{le="1e-06"}`: 0, `intsink_hop_latency_seconds_bucket{le="2e-06"}`: 1, `intsink_hop_latency_seconds_sum`: 1.5e-06,
	} {
		if n, ok := got[series]; !ok || n != want {
			t.Errorf("%s %v, want %v", series, n, want)
		}
	}
	if _, ok := got[`intsink_poll_gap_seconds_bucket{worker="w0",le="5e-05"}`]; ok {
		t.Error("gaps below 100 us are told apart")
	}
}
