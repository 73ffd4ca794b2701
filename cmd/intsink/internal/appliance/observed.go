// Fills observe.Source with ports, collectors and workers of the appliance, and opens the
// HTTP endpoint.

package appliance

import (
	"log/slog"
	"os"
	"slices"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/statefile"
	"intsink/cmd/intsink/internal/confighistory"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/network"
	"intsink/cmd/intsink/internal/observe"
	"intsink/cmd/intsink/internal/webhook"
	"intsink/conf"
	"intsink/engine/series"
)

// startServing opens the HTTP endpoint, once there is something to serve: with what was before the start.
func (a *Appliance) startServing(c *conf.Config) (stop func(), err error) {
	a.source = a.observed()
	a.source.Network, a.source.Counts = network.New(), series.NewCounts()
	_, stopKeeping := keepLearned(os.Getenv, instance(os.Getenv, slog.Default()), learnedCounts(a.source.Counts), learnedChanges(a.source.Network))
	a.servers = observe.Serve(c.HTTP, a.source, degraded.Tick())
	return func() { a.servers.Stop(); stopKeeping() }, nil
}

// startProblems looks at what is wrong until a stops, and keeps it over a restart.
func (a *Appliance) startProblems(c *conf.Config) (stop func(), err error) {
	a.hooks.Configure(c.Notify)
	a.problems.Named = func(place []problem.Part) { names.Of(&a.config.Load().Names).Place(place) }
	stopKeeping := a.problems.Keep(statefile.Dir(os.Getenv))
	stopWatching := background(a.source.WatchProblems)
	return func() { stopWatching(); stopKeeping(); a.hooks.Stop() }, nil
}

// tellProblem tells who listens that a problem begins or ends.
func (a *Appliance) tellProblem(event string, p *problem.Problem) {
	c := problem.Change{Event: event, Problem: p}
	a.live.Announce("problem", c)
	a.hooks.Tell(c)
}

// sink is who tells of problems.
func (a *Appliance) sink() webhook.Sink {
	host, _ := os.Hostname() // none is what it is called then
	return webhook.Sink{Node: a.config.Load().Node.ID, Host: host, Version: a.version}
}

// observed is what the endpoint shows of the appliance.
func (a *Appliance) observed() *observe.Source {
	s := &observe.Source{
		Version: a.version, Control: a.control, Mitigation: a.mitigation, Capture: a.capture(), Modes: a.modes, Live: a.live, Started: time.Now(), Config: a.config.Load, Clock: a.clock, WallClock: a.wallClock.Offset, Stopping: a.stopping.Load,
		Collectors: a.observedCollectors, Workers: a.workers, Links: a.config.Load().LinkNames(), Mbufs: a.pool, Degraded: a.degraded, Problems: a.problems, Hooks: a.hooks, History: &confighistory.Server{History: a.history, Control: a.control, Env: a.knownVariable},
	}
	for _, p := range a.reportPools {
		s.ReportPools = append(s.ReportPools, p)
	}
	for _, p := range a.ports {
		tap := slices.ContainsFunc(a.config.Load().Taps, func(t conf.Tap) bool { return t.Port == p.name })
		s.Ports = append(s.Ports, observe.Port{Name: p.name, Device: &observedPort{appliancePort: p}, Aside: p.beside && !tap})
	}
	for i, p := range a.exporters.ports.ports {
		s.ReportPorts = append(s.ReportPorts, observe.ReportPort{Name: a.exporters.ports.names[i], Port: p})
	}
	return s
}

// observedCollectors returns the present collectors.
func (a *Appliance) observedCollectors() []observe.Collector {
	var all []observe.Collector
	for _, c := range *a.exporters.collectors.Load() {
		all = append(all, observe.Collector{Name: c.conf.Name, Exporter: c.exporter, Gateway: c.gateway, Rings: c.rings})
	}
	return all
}

// observedPort is a port as the endpoint shows it.
type observedPort struct {
	*appliancePort
}

// LinkDown describes what is wrong with the link now; empty if it is up.
func (p *observedPort) LinkDown() string { return p.device.linkDown() }

// LinkChanges counts how often the link came up or went down.
func (p *observedPort) LinkChanges() uint64 { return p.link.changes.Load() }

// Counters reads those of the device.
func (p *observedPort) Counters() (observe.PortCounters, error) { return p.device.counters() }
