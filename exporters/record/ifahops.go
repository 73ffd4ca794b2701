// Puts the hops of IFA into a record: values by the layouts of the configuration, times as those of the report's day.

package record

import (
	"slices"

	"intsink/engine/wire/ifa"
	"intsink/engine/wire/inthdr"
)

// ifaStack is stack for sound IFA, whose hops have their own layouts.
func (d *Decoder) ifaStack(n int) {
	r, i := &d.record, &d.info
	r.HopCount = i.Hops
	r.Known |= KnownHopCount
	s, ok := d.locator.IFAStack(d.frame[:n], i)
	if !ok {
		return
	}
	for v := (ifa.Values{}); ; {
		if _, more := s.Next(&v); !more {
			break
		}
		d.ifaHop(&v)
	}
	slices.Reverse(r.Hops) // the newest hop is the first on the wire
	d.links(64)
	d.complete(d.locator.Layout(i))
}

// ifaHop appends a hop. Its times are left out where the node's clock is not that of the report.
func (d *Decoder) ifaHop(v *ifa.Values) {
	var b [ifa.INTHopLen]byte
	var x inthdr.Hop
	v.Put(b[:])
	d.locator.Layout(&d.info).Read(&x, b[:])
	if at, known := d.ifaTime(v); known {
		x.IngressTime = at
		if residence := v[ifa.ResidenceTime]; residence != ifa.Unknown {
			x.EgressTime = at + uint64(residence)
		}
	}
	d.record.Hops = append(d.record.Hops, Hop{})
	d.record.Hops[len(d.record.Hops)-1].fill(&x, &inthdr.Rest{Buffer: inthdr.Unknown, BufferOccupancy: inthdr.Unknown, Congestion: v[ifa.Congestion]}, d.models.Of(x.NodeID))
}

// ifaTime is the time at which the node received the packet: 20 bits of seconds, which are those nearest to the report's time,
// and no further from it than clocks may be.
func (d *Decoder) ifaTime(v *ifa.Values) (at uint64, known bool) {
	const wrap = ifa.Wrap
	t, told := v.RxTime()
	if !told || d.record.Time <= 0 {
		return 0, false
	}
	ahead := (int64(t)-d.record.Time%wrap+wrap+wrap/2)%wrap - wrap/2
	if ahead >= maxClockOffset || ahead <= -maxClockOffset {
		return 0, false
	}
	return uint64(d.record.Time + ahead), true
}
