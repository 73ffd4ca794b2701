package observe

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/cmd/intsink/internal/webhook"
	"intsink/conf"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/engine/aside/recorder"
	"intsink/engine/burst"
	"intsink/engine/enginetest/workertest"
	"intsink/engine/histogram"
	"intsink/engine/reporting"
	"intsink/exporters/port"
	"intsink/exporters/udp"
)

// TestMetricsAreDocumented: the list here and the table in the documents say
// the same.
func TestMetricsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `(intsink_\\w+)(?:\\{[a-z0-9,]*\\})?` \\| (.*) \\|$")
	documented := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(doc), -1) {
		documented[m[1]] = strings.ReplaceAll(m[2], "`", "")
	}
	for _, m := range Metrics {
		if documented[m.Name] != m.Help {
			t.Errorf("docs/metrics.md says of %s %q, want %q", m.Name, documented[m.Name], m.Help)
		}
		delete(documented, m.Name)
	}
	for name := range documented {
		t.Errorf("docs/metrics.md has %s, which there is not", name)
	}
}

// TestLabelsAreEscaped: whatever the configuration names things.
func TestLabelsAreEscaped(t *testing.T) {
	x := newExposition()
	x.add("intsink_flows", 7, "worker", "a\"b\\c\nd\x01ü", "other", 1)
	var b bytes.Buffer
	if err := x.writeTo(&b); err != nil {
		t.Fatal(err)
	}
	if p := observetest.Parse(t, b.String()); len(p.Series) != 1 {
		t.Errorf("%s", b.String())
	}
}

// TestSentIsNeverMoreThanSealed: the exporter is ahead of what a worker has
// published.
func TestSentIsNeverMoreThanSealed(t *testing.T) {
	e := udp.New(udp.Config{})
	s := &Source{Collectors: func() []Collector { return []Collector{{Name: "primary", Exporter: e}} }}
	e.Packets.Store(10)
	sealed := func(n uint64) []engine.Counters {
		return []engine.Counters{{Counters: reporting.Counters{Collectors: []reporting.CollectorCounters{{Name: "other", Packets: 3}, {Name: "primary", Packets: n}}}}}
	}
	for published, want := range map[uint64]float64{7: 7, 10: 10, 12: 10} {
		x := newExposition()
		s.addCollectors(x, sealed(published), s.exported())
		var b bytes.Buffer
		if err := x.writeTo(&b); err != nil {
			t.Fatal(err)
		}
		p := observetest.Parse(t, b.String())
		if got := p.Series[`intsink_report_packets_sent_total{collector="primary"}`]; got != want {
			t.Errorf("%d sealed: %v sent, want %v", published, got, want)
		}
	}
}

func TestHealthBeforeTheFirstPoll(t *testing.T) {
	w := workertest.New(t, nil)
	const start = 1_700_000_000_000_000_000
	s := &Source{Workers: []*engine.Worker{w}, Clock: func() int64 { return start }}
	if err := s.healthy(); err == nil || err.Error() != "worker w0 has not polled yet" {
		t.Errorf("%v", err)
	}
	w.Tick(start)
	if err := s.healthy(); err != nil {
		t.Error(err)
	}
}

// TestUnlistedMetricFails: a sample whose metric is not in the list is an error.
func TestUnlistedMetricFails(t *testing.T) {
	x := newExposition()
	x.add("intsink_flows", 1, "worker", "w0")
	x.add("intsink_unlisted_total", 1)
	var b bytes.Buffer
	if err := x.writeTo(&b); err == nil || !strings.Contains(err.Error(), "intsink_unlisted_total") || b.Len() > 0 {
		t.Errorf("%v, %q", err, b.String())
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

func (device) Counters() (PortCounters, error) {
	return PortCounters{1, 2, 3, 4, 5, 6, 7, 8, 9, map[string]uint64{"headers": 11}}, nil
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
	m.Start(failopen.Asked{Mode: failopen.Pass, Why: "asked for at start"})
	return &failopen.Server{Controller: m}
}

// TestEveryMetricIsWritten, and each is in the list.
func TestEveryMetricIsWritten(t *testing.T) {
	w := workertest.New(t, func(c *engine.WorkerConfig) {
		c.Links, c.Outlets = []burst.Link{{Name: "edge"}}, []reporting.Outlet{{Ring: ring.New(2)}}
		c.Rules = &engine.Rules{Collectors: []reporting.Collector{{Name: "primary", MaxPayload: 1000}}}
		c.Recorder, c.Clock = recorder.LeastMemory, func() int64 { return 1000 }
	})
	s := &Source{
		Version: "test", Clock: func() int64 { return 2.5e9 + 1000 }, Control: controlled(t), Modes: modes(), Workers: []*engine.Worker{w}, Links: []string{"edge"}, Mbufs: pool{}, ReportPools: []Pool{pool{}},
		Config:    func() *conf.Config { return &conf.Config{Flows: conf.Flows{Capacity: 1024}} },
		WallClock: func() int64 { return -37_500e6 },
		Collectors: func() []Collector {
			return []Collector{{"primary", udp.New(udp.Config{}), gateway{}, []Ring{ring.New(8)}}, {"kernel", udp.New(udp.Config{}), nil, nil}}
		},
		Ports:       []Port{{Name: "network", Device: device{}}},
		ReportPorts: []ReportPort{{"telemetry", port.New(port.MAC{})}},
	}
	s.Degraded = degraded.New(func() time.Time { return time.Unix(1000, 0) }, slog.Default)
	s.Degraded.Set("http", "pprof", errors.New("taken"))
	s.Hooks = webhook.New(func() webhook.Sink { return webhook.Sink{} }, s.Degraded, slog.Default)
	s.Hooks.Configure([]conf.Notify{{Name: "ops"}})
	defer s.Hooks.Stop()
	var b bytes.Buffer
	if err := s.writeMetrics(&b); err != nil {
		t.Fatal(err)
	}
	p := observetest.Parse(t, b.String())
	if one, since := p.Series[`intsink_degraded{part="http",name="pprof"}`], p.Series[`intsink_degraded_since_timestamp_seconds{part="http",name="pprof"}`]; one != 1 || since != 1000 {
		t.Errorf("degraded %v since %v", one, since)
	}
	for _, m := range Metrics {
		if p.Kind[m.Name] != m.Kind() || p.Help[m.Name] != m.Help {
			t.Errorf("%s is not there, or not as it should be: %q %q", m.Name, p.Kind[m.Name], p.Help[m.Name])
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

// TestTimes: buckets are in seconds and add up, the first ones may be one; gaps that are not
// told apart are in it.
func TestTimes(t *testing.T) {
	var p engine.Pace
	p.Polls, p.TotalNs = [2]uint64{90, 10}, 5e9
	p.Gaps.Observe(100e3)
	p.Gaps.Observe(3e6)
	p.Gaps.Observe(20e9)
	var h histogram.Histogram
	h.Observe(1500)
	x := newExposition()
	x.addTimes("intsink_poll_gap_seconds", pollGaps(&p), shortestGap, "worker", "w0")
	x.addTimes("intsink_hop_latency_seconds", &h, 0)
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
