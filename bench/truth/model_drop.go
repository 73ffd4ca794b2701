package truth

import "time"

// limitedInterval is how often malformed, leak and unknown_domain are reported at most, per port
// and kind. There is one port that each can come from.
const limitedInterval = time.Second

// dropState counts dropped packets of one flow or reason.
type dropState struct {
	n    uint32 // drops since the last report
	sent int64  // time of the last report; 0: there was none
}

// limited decides on an event that is limited per port and kind.
func (m *Model) limited(e *Expect, event string, now int64) {
	if !m.enabled[event] {
		return
	}
	if last, is := m.told[event]; is && now-last < int64(limitedInterval) {
		e.note("%s: withheld", event)
		return
	}
	m.told[event] = now
	e.must(event, "as it is")
}

// drop counts a packet that the sink drops: the first is reported, later ones with their count,
// once in DropInterval.
func (m *Model) drop(e *Expect, d *dropState, p *Policy, now int64) {
	d.n++
	if d.sent != 0 && now-d.sent < int64(p.DropInterval) {
		e.note("drop: withheld, %d since the last", d.n)
		return
	}
	e.must(Drop, "%d since the last", d.n)
	e.Drops, d.n, d.sent = d.n, 0, now
}

// noFlow decides on packets that belong to no flow: all that have no sound INT from the network.
func (m *Model) noFlow(e *Expect, k *Packet) {
	reason := ""
	switch {
	case k.FromHost && !k.NoINT:
		m.limited(e, Leak, k.Time)
	case k.Unsound:
		m.limited(e, Malformed, k.Time)
		if m.DropUnsound {
			reason = "malformed"
		}
	}
	if k.Refused && reason == "" {
		reason = "refused"
	}
	if reason != "" && m.enabled[Drop] {
		d := m.drops[reason]
		m.drop(e, &d, &m.policies[WatchDC], k.Time)
		m.drops[reason] = d
	}
}

// ignored returns k without the values of its INT, which a sink cannot read.
func (k *Packet) ignored() *Packet {
	c := *k
	c.Hops, c.Bitmap, c.Sequence = nil, 0, nil
	return &c
}
