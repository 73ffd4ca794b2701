// Fills observe.Source with ports, collectors and workers of the appliance, and opens the
// HTTP endpoint.

package appliance

import (
	"log/slog"
	"slices"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/intsink/internal/observe"
	"intsink/conf"
)

// startServing opens the HTTP endpoint, once there is something to serve.
func (a *Appliance) startServing(c *conf.Config) error {
	a.source = a.observed()
	a.servers = observe.Serve(c.HTTP, a.source, degraded.Tick())
	return nil
}

// startChanges logs what begins and ends to be lost, until a stops.
func (a *Appliance) startChanges(*conf.Config) error {
	done, ended := make(chan struct{}), make(chan struct{})
	a.stopChanges = func() { close(done); <-ended }
	go func() {
		defer close(ended)
		observe.NewChanges(slog.Default).Watch(a.source, done)
	}()
	return nil
}

// observed is what the endpoint shows of the appliance.
func (a *Appliance) observed() *observe.Source {
	s := &observe.Source{
		Version: a.version, Control: a.control, Mitigation: a.mitigation, Capture: a.capture(), Modes: a.modes, Live: a.live, Started: time.Now(), Config: a.config.Load, Clock: a.clock, WallClock: a.wallClock.Offset, Stopping: a.stopping.Load,
		Collectors: a.observedCollectors, Workers: a.workers, Links: a.linkNames, Mbufs: a.pool, Degraded: a.degraded,
	}
	for _, p := range a.reportPools {
		s.ReportPools = append(s.ReportPools, p)
	}
	for _, p := range a.ports {
		tap := slices.ContainsFunc(a.config.Load().Taps, func(t conf.Tap) bool { return t.Port == p.name })
		s.Ports = append(s.Ports, observe.Port{Name: p.name, Device: observedPort{p}, Aside: p.beside && !tap})
	}
	for i, p := range a.reportPorts.ports {
		s.ReportPorts = append(s.ReportPorts, observe.ReportPort{Name: a.reportPorts.names[i], Port: p})
	}
	return s
}

// observedCollectors returns the present collectors.
func (a *Appliance) observedCollectors() []observe.Collector {
	var all []observe.Collector
	for _, c := range *a.collectors.Load() {
		all = append(all, observe.Collector{Name: c.conf.Name, Exporter: c.exporter, Gateway: c.gateway, Rings: c.rings})
	}
	return all
}

// observedPort is a port as the endpoint shows it.
type observedPort struct{ *appliancePort }

// LinkDown describes what is wrong with the link now; empty if it is up.
func (p observedPort) LinkDown() string { return p.device.linkDown() }

// LinkChanges counts how often the link came up or went down.
func (p observedPort) LinkChanges() uint64 { return p.link.changes.Load() }

// Counters reads those of the device.
func (p observedPort) Counters() (observe.PortCounters, error) { return p.device.counters() }
