// Of: a configuration as engine.Rules; names of collectors.

package rules

import (
	"intsink/cmd/internal/sinkconf"
	"intsink/conf"
	"intsink/engine"
)

// Of turns the configuration into what the workers read per packet.
func Of(c *conf.Config) *engine.Rules {
	r := &engine.Rules{
		INT:           sinkconf.INT(&c.INT),
		DropMalformed: c.INT.Malformed == conf.DropMalformed,
		Verify:        c.INT.Verify,
		Devices:       deviceFields(&c.INT),
		DropInterval:  int64(c.Events.Drop.Interval),
		Report:        reportRules(c),
		Collectors:    collectors(c),
		NodeModels:    sinkconf.NodeModels(c.NodeModels),
		IdleTimeout:   int64(c.Flows.IdleTimeout),
	}
	names := CollectorNames(c)
	for i := range c.Watches {
		w := &c.Watches[i]
		watch := watchOf(w, names)
		watch.Policy = policyOf(w, &c.Events)
		r.Watches = append(r.Watches, watch)
	}
	return r
}

// CollectorNames are the names of the collectors, as watches and reports index them.
func CollectorNames(c *conf.Config) []string {
	names := make([]string, len(c.Collectors))
	for i := range c.Collectors {
		names[i] = c.Collectors[i].Name
	}
	return names
}
