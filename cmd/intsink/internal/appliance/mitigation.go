// Makes the servers of mitigation rules and of captures, which hand both to the workers;
// how long device ids are (deviceBytes).

package appliance

import (
	"os"

	"intsink/cmd/internal/statefile"
	"intsink/cmd/intsink/internal/livecapture"
	"intsink/cmd/intsink/internal/mitigation"
	"intsink/conf"
	"intsink/engine/aside/mitigate"
)

// makeMitigation makes the store of mitigation rules, with those of before a restart, and its server.
func (a *Appliance) makeMitigation(c *conf.Config) (stop func(), err error) {
	var links []string
	for _, l := range c.Links {
		if l.Mitigation {
			links = append(links, l.Name)
		}
	}
	var asides []*mitigate.Aside
	for _, w := range a.workers {
		asides = append(asides, w.Mitigation)
	}
	a.mitigation = &mitigation.Server{
		Store:   mitigation.NewStore(asides, links, a.clock, a.wallClock.Offset),
		Control: a.control, DeviceBytes: a.deviceBytes,
	}
	a.mitigation.Store.Keep(statefile.Dir(os.Getenv))
	return a.mitigation.Store.Close, nil
}

// makeCaptures makes what takes packets for those who ask.
func (a *Appliance) makeCaptures() *livecapture.Server {
	return &livecapture.Server{
		Workers: livecapture.WorkersOf(a.workers), Recorders: livecapture.RecordersOf(a.workers), Config: a.config.Load, Clock: a.clock, WallClock: a.wallClock.Offset, Control: a.control, Version: a.version,
	}
}

// deviceBytes are the lengths of device ids in domain specific metadata, by the
// configuration in force.
func (a *Appliance) deviceBytes() (all []int) {
	for _, d := range a.config.Load().INT.Domains {
		for _, in := range d.Instructions {
			if in.Role == conf.DeviceIDRole {
				all = append(all, int(in.Length))
			}
		}
	}
	return all
}
