// The ports as a part of the sink, and where reports go: package ports, package collectors.

package appliance

import (
	"time"

	"intsink/cmd/intsink/internal/collectors"
	"intsink/cmd/intsink/internal/ports"
	"intsink/conf"
	"intsink/exporters/port"
)

// openPorts opens every port of the configuration.
func (a *Appliance) openPorts(c *conf.Config) (stop func(), err error) {
	a.ports = &ports.Ports{Pool: a.pool, Degraded: a.env.Degraded}
	return func() { a.giveTurn(c); a.ports.Close() }, a.ports.Open(c)
}

// startCollectors makes an exporter for each collector.
func (a *Appliance) startCollectors(c *conf.Config) (stop func(), err error) {
	a.collectors = &collectors.Collectors{Config: a.force.Config, Clock: a.env.Clock, Degraded: a.env.Degraded, Ports: a.ports, Pool: a.pool, ReportPools: a.reportPools}
	a.force.Reports = a.collectors
	return a.collectors.Start(c)
}

// gaugeEvery is how often the load of ports and pool is read, and the state of links.
const gaugeEvery = 250 * time.Millisecond

// startGauges reads until a stops.
func (a *Appliance) startGauges(*conf.Config) (stop func(), err error) {
	return repeat(gaugeEvery, func(now time.Time) {
		a.wallClock.Renew()
		a.ports.Look(a.pool.InUse(), now)
	}), nil
}

// startNames looks up the host names of collectors.
func (a *Appliance) startNames(*conf.Config) (stop func(), err error) {
	return a.collectors.StartNames(a.force.Change), nil
}

// startSlots lets devices come and go.
func (a *Appliance) startSlots(*conf.Config) (stop func(), err error) {
	return a.ports.Tend(ports.Sink{
		Config: a.force.Config, Clock: a.env.Clock, Workers: a.env.Workers, Stopping: a.force.Stopping,
		Readdress: func(name string, mac port.MAC) { a.collectors.Readdress(name, mac, a.force.Change) },
	}), nil
}
