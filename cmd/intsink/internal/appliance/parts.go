// The parts of a sink that stand by themselves: each brings what it has, and nobody else knows it.

package appliance

import (
	"slices"

	"intsink/cmd/internal/ui"
	"intsink/cmd/intsink/internal/confighistory"
	"intsink/cmd/intsink/internal/events"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/incident"
	"intsink/cmd/intsink/internal/livecapture"
	"intsink/cmd/intsink/internal/mitigation"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/network"
	"intsink/cmd/intsink/internal/observe"
	"intsink/cmd/intsink/internal/openapi"
	"intsink/cmd/intsink/internal/part"
	"intsink/cmd/intsink/internal/vitals"
	"intsink/cmd/intsink/internal/webhook"
	"intsink/conf"
)

// early are the parts that start before the workers poll.
func early() []any { return []any{&mitigation.Server{}, &livecapture.Server{}} }

// late are those that start while packets pass: what they read of before may take a while. They start in this order, the endpoint
// last.
func (a *Appliance) late() []any {
	endpoint, health := &observe.Endpoint{}, a.vitals()
	a.force.Healthy = health.Healthy
	a.force.Serve = func(h conf.HTTP, adopt func()) { endpoint.Change(h, adopt) }
	return []any{
		part.Page{Pattern: "GET /ui/", Path: "/ui/", Handler: ui.Handler("/ui/")},
		health,
		&events.Server{},
		&vitals.Problems{},
		&names.Server{Config: a.force.Config},
		&flowapi.API{},
		openapi.Server{},
		&network.Watcher{},
		a.env.Control,
		&confighistory.Server{History: a.force.History, Control: a.env.Control, Env: a.force.Variable},
		a.modes,
		&webhook.Hooks{},
		incident.Pages{Config: a.force.Config},
		a.collectors,
		&a.service,
		endpoint,
	}
}

// vitals is the part that tells of what the list of parts cannot know: ports, collectors and pools.
func (a *Appliance) vitals() *vitals.Server {
	s := &vitals.Server{
		Stopping: a.force.Stopping, Collectors: a.collectors.Observed, Mbufs: a.pool,
		Ports: a.ports.Observed(a.force.Config()), ReportPorts: a.collectors.ObservedPorts(),
	}
	for _, p := range a.reportPools {
		s.ReportPools = append(s.ReportPools, p)
	}
	return s
}

// startEarly makes the list of parts, and starts those before the workers poll.
func (a *Appliance) startEarly(*conf.Config) (stop func(), err error) {
	first := early()
	a.env.Parts = append(a.late(), first...)
	return a.startAll(first)
}

// startLate starts the others.
func (a *Appliance) startLate(*conf.Config) (stop func(), err error) {
	return a.startAll(a.env.Parts[:len(a.env.Parts)-len(early())])
}

// startAll starts parts, and stops them in reverse.
func (a *Appliance) startAll(parts []any) (stop func(), err error) {
	var stops []func()
	stop = func() { stopAll(stops) }
	for _, x := range parts {
		p, ok := x.(part.Part)
		if !ok {
			continue
		}
		end, err := p.Start(a.env)
		if end != nil {
			stops = append(stops, end)
		}
		if err != nil {
			return stop, err
		}
	}
	return stop, nil
}

// runAll runs the parts that do something while the workers poll, and stops them in reverse.
func (a *Appliance) runAll(*conf.Config) (stop func(), err error) {
	var stops []func()
	for _, p := range part.All[part.Runs](a.env) {
		stops = append(stops, background(p.Run))
	}
	return func() { stopAll(stops) }, nil
}

func stopAll(stops []func()) {
	for _, stop := range slices.Backward(stops) {
		stop()
	}
}
