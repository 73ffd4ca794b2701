// The features of a sink that stand by themselves: each brings what it has, and nobody else knows it.

package appliance

import (
	"os"
	"slices"

	"intsink/cmd/internal/statefile"
	"intsink/cmd/intsink/internal/livecapture"
	"intsink/cmd/intsink/internal/mitigation"
	"intsink/cmd/intsink/internal/part"
	"intsink/conf"
)

// features are the list.
func features() []part.Part { return []part.Part{&mitigation.Server{}, &livecapture.Server{}} }

// startFeatures starts them, and stops them in reverse.
func (a *Appliance) startFeatures(*conf.Config) (stop func(), err error) {
	e := &part.Env{Version: a.version, State: statefile.Dir(os.Getenv), Config: a.force.Config, Clock: a.clock, WallClock: a.wallClock.Offset, Workers: a.workers, Control: a.control}
	var stops []func()
	stop = func() {
		for _, s := range slices.Backward(stops) {
			s()
		}
	}
	for _, p := range features() {
		end, err := p.Start(e)
		if end != nil {
			stops = append(stops, end)
		}
		if err != nil {
			return stop, err
		}
		a.features = append(a.features, p)
	}
	return stop, nil
}
