// The list of parts that the HTTP endpoint serves; what is looked at each second.

package appliance

import (
	"log/slog"
	"os"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/statefile"
	"intsink/cmd/internal/ui"
	"intsink/cmd/intsink/internal/confighistory"
	"intsink/cmd/intsink/internal/events"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/incident"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/network"
	"intsink/cmd/intsink/internal/observe"
	"intsink/cmd/intsink/internal/openapi"
	"intsink/cmd/intsink/internal/part"
	"intsink/cmd/intsink/internal/status"
	"intsink/cmd/intsink/internal/vitals"
	"intsink/cmd/intsink/internal/webhook"
	"intsink/conf"
	"intsink/engine/series"
)

// startServing opens the HTTP endpoint, once there is something to serve: with what was before the start.
func (a *Appliance) startServing(c *conf.Config) (stop func(), err error) {
	n, counts := network.New(), series.NewCounts()
	a.vitals = a.observed()
	_, stopKeeping := keepLearned(os.Getenv, instance(os.Getenv, slog.Default()), learnedCounts(counts), learnedChanges(n))
	api := a.makeAPI(n, counts)
	a.servers = observe.Serve(c.HTTP, &observe.Source{Config: a.force.Config, Control: a.control, Degraded: a.degraded, Parts: a.served(n, api)}, degraded.Tick())
	watcher := &network.Watcher{Network: n, Workers: a.workers, Clock: a.clock, WallClock: a.wallClock.Offset, Sweep: func() { a.live.Sweep() }, Tables: api.Tables, Problems: a.problems}
	a.force.Healthy, a.force.Serve = a.vitals.Healthy, a.servers.Change
	a.watch = func(done <-chan struct{}) {
		a.live.Observe(network.Wanted, n.Observe)
		vitals.Problems{List: a.problems}.Watch(done, a.vitals,
			func(j *status.Status) { a.vitals.Count(counts, j) },
			func(*status.Status) {
				api.EndedEpisodes(func(x *flowapi.EpisodeItem) { a.live.Announce("episode", x) })
			},
			watcher.Look)
	}
	return func() { a.servers.Stop(); stopKeeping() }, nil
}

// served are the parts that the endpoint serves, in the order of /metrics and of the index.
func (a *Appliance) served(n *network.Network, api *flowapi.API) []any {
	all := []any{
		part.Page{Pattern: "GET /ui/", Path: "/ui/", Handler: ui.Handler("/ui/")},
		a.vitals,
		&events.Server{Live: a.live, Control: a.control},
		vitals.Problems{List: a.problems},
		&names.Server{Config: a.force.Config},
		api,
		openapi.Server{},
		n,
		a.control,
		&confighistory.Server{History: a.force.History, Control: a.control, Env: a.force.Variable},
		a.modes,
		a.hooks,
	}
	for _, p := range a.features {
		all = append(all, p)
	}
	return all
}

// makeAPI makes what answers with what the workers know.
func (a *Appliance) makeAPI(n *network.Network, counts *series.Counts) *flowapi.API {
	in := flowapi.New(a.workers, a.clock)
	in.Wall, in.Counts = a.wallClock.Offset, counts
	in.Page = func(x *flowapi.Incident, format string) string {
		return incident.Page(x, format, names.Of(&a.force.Config().Names))
	}
	in.Problems, in.Seen, in.Changes, in.Silent = a.problems.All, n.Seen, n.EachChange, n.EachSilent
	for _, p := range a.features {
		if r, ok := p.(flowapi.Recorder); ok {
			in.Recorded = r.Recorded
		}
	}
	return in
}

// startProblems looks at what is wrong until a stops, and keeps it over a restart.
func (a *Appliance) startProblems(c *conf.Config) (stop func(), err error) {
	a.hooks.Configure(c.Notify)
	a.problems.Named = func(place []problem.Part) { names.Of(&a.force.Config().Names).Place(place) }
	stopKeeping := a.problems.Keep(statefile.Dir(os.Getenv))
	stopWatching := background(a.watch)
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
	return webhook.Sink{Node: a.force.Config().Node.ID, Host: host, Version: a.version}
}

// observed makes the part that serves health, status and metrics of workers, ports and collectors.
func (a *Appliance) observed() *vitals.Server {
	s := &vitals.Server{
		Version: a.version, Started: time.Now(), Config: a.force.Config, Clock: a.clock, WallClock: a.wallClock.Offset, Stopping: a.force.Stopping,
		Collectors: a.collectors.Observed, Workers: a.workers, Links: a.force.Config().LinkNames(), Mbufs: a.pool, Degraded: a.degraded, Open: a.problems.Open,
		Fills: []part.Status{a.control, a.modes}, Ports: a.ports.Observed(a.force.Config()), ReportPorts: a.collectors.ObservedPorts(),
	}
	for _, p := range a.reportPools {
		s.ReportPools = append(s.ReportPools, p)
	}
	return s
}
