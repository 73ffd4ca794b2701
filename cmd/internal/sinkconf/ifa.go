// Makes an ifa.Config of block ifa.

package sinkconf

import (
	"intsink/conf"
	"intsink/engine/wire/ifa"
)

// ifaOf converts block ifa.
func ifaOf(c *conf.IFA) *ifa.Config {
	out := &ifa.Config{Protocols: c.Protocol, StripCopies: c.Copies == conf.StripCopies, MaxResidence: uint32(c.MaxResidence)}
	if c.Marker != nil {
		out.Marker = *c.Marker
	}
	for i := range c.Hops {
		h := &c.Hops[i]
		lns := ifa.AnyLNS
		if h.LNS != nil {
			lns = int(*h.LNS)
		}
		var parts []ifa.Part
		for _, f := range h.Fields {
			field, _ := ifa.FieldOf(f.Name)
			parts = append(parts, ifa.Part{Field: field, Width: f.Bits})
		}
		if l, ok := ifa.NewLayout(h.Name, h.GNS, lns, parts); ok { // a configuration without faults has no other
			out.Layouts = append(out.Layouts, l)
		}
	}
	return out
}
