// Blocks watch as engine.Watch; device id fields of domains.

package rules

import (
	"slices"

	"intsink/conf"
	"intsink/engine"
	"intsink/engine/watch"
)

func watchOf(w *conf.Watch, collectors []string) engine.Watch {
	out := engine.Watch{Name: w.Name}
	for i, name := range collectors {
		if len(w.Collectors) == 0 || slices.Contains(w.Collectors, name) {
			out.Collectors |= 1 << i
		}
	}
	if m := w.Match; m != nil {
		out.Source, out.Destination, out.Protocol = m.Source, m.Destination, m.Protocol
		out.SourcePort, out.DestinationPort = m.SourcePort, m.DestinationPort
		out.Layer = watchLayers[m.Flow]
		out.VLAN, out.DSCP, out.VNI, out.Device = m.VLAN, m.DSCP, m.VNI, m.Device
	}
	return out
}

// watchLayers are the values of watch.match.flow.
var watchLayers = map[conf.Layer]watch.Layer{conf.AnyLayer: watch.OwnLayer, conf.OuterLayer: watch.OuterLayer, conf.InnerLayer: watch.InnerLayer}

// deviceFields are the instructions with the role of a device id.
func deviceFields(c *conf.INT) (out []watch.DeviceField) {
	for i := range c.Domains {
		for _, in := range c.Domains[i].Instructions {
			if in.Role == conf.DeviceIDRole {
				out = append(out, watch.DeviceField{Domain: c.Domains[i].ID, Bit: in.Bit})
			}
		}
	}
	return out
}
