package rules

import (
	"intsink/conf"
	"intsink/engine/watch"
)

// deviceFields are the instructions with the role of a device id.
func deviceFields(c *conf.INT) (out []watch.DeviceField) {
	for i := range c.Domains {
		for _, in := range c.Domains[i].Instructions {
			if in.Role == "device_id" {
				out = append(out, watch.DeviceField{Domain: c.Domains[i].ID, Bit: in.Bit})
			}
		}
	}
	return out
}
