package appliance

import (
	"log/slog"
	"time"

	"intsink/cmd/intsink/internal/observe"
	"intsink/conf"
	"intsink/dpdk/ethdev"
)

// startServing opens the HTTP endpoint, once there is something to serve.
func (a *Appliance) startServing(c *conf.Config) (err error) {
	a.stopHTTP, err = observe.Serve(c.HTTP, a.observed())
	return err
}

// startChanges logs what begins and ends to be lost, until a stops.
func (a *Appliance) startChanges(*conf.Config) error {
	done, ended := make(chan struct{}), make(chan struct{})
	a.stopChanges = func() { close(done); <-ended }
	go func() {
		defer close(ended)
		observe.NewChanges(slog.Default).Watch(a.observed(), done)
	}()
	return nil
}

// observed is what the endpoint shows of the appliance.
func (a *Appliance) observed() *observe.Source {
	s := &observe.Source{
		Version: a.version, Started: time.Now(), Config: a.config.Load, Clock: a.clock, WallClock: a.wallClock.Offset, Stopping: a.stopping.Load,
		Workers: a.workers, Links: a.linkNames, Mbufs: a.pool,
	}
	for i, e := range a.exporters {
		c := observe.Collector{Name: a.collectorNames[i], Exporter: e}
		if gateway := a.reportPorts.exporters[i]; gateway != nil {
			c.Gateway = gateway
		}
		s.Collectors = append(s.Collectors, c)
	}
	for _, p := range a.ports {
		s.Ports = append(s.Ports, observe.Port{Name: p.name, Device: device{p.eth}})
	}
	for i, p := range a.reportPorts.ports {
		s.ReportPorts = append(s.ReportPorts, observe.ReportPort{Name: a.reportPorts.names[i], Port: p})
	}
	return s
}

// device is a port of DPDK as the endpoint shows it.
type device struct{ ethdev.Port }

// Counters reads the driver's counters.
func (d device) Counters() (observe.PortCounters, error) {
	s, err := d.Stats()
	return observe.PortCounters{
		RxPackets: s.IPackets, TxPackets: s.OPackets, RxBytes: s.IBytes, TxBytes: s.OBytes,
		RxMissed: s.IMissed, RxErrors: s.IErrors, TxErrors: s.OErrors, RxNoMbuf: s.RxNoMbuf,
	}, err
}
