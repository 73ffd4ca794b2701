// Looks at the link of each port, logs its changes, counts flaps.

package ports

import (
	"log/slog"
	"sync/atomic"
)

// linkState is the last known state of a port's link. One goroutine writes it; any may read it.
type linkState struct {
	down     atomic.Pointer[string] // what is wrong, empty where the link is up; nil: nobody has looked yet
	changes  atomic.Uint64
	flaps    uint64 // of the device, when it was last looked at
	impaired string // as the device said then
}

// look asks the device, counts what changed since, and logs a line about it.
func (p *Port) look() {
	p.device.look()
	down, flaps := p.device.linkDown(), p.device.flaps()
	first, was := true, ""
	if old := p.link.down.Load(); old != nil {
		first, was = false, *old
	}
	p.link.down.Store(&down)
	between := flaps - p.link.flaps // changes that the kernel announced
	p.link.flaps = flaps
	changed := first || (down == "") != (was == "")
	switch {
	case changed && !first:
		p.link.changes.Add(max(between, 1))
	case !first:
		p.link.changes.Add(between)
	}
	switch {
	case changed && down == "":
		slog.Info("port: link is up", p.upAttrs()...)
	case changed:
		slog.Warn("port: link is down", "port", p.name, "reason", down)
	case !first && down != was:
		slog.Warn("port: link is still down", "port", p.name, "reason", down)
	case !first && between > 0:
		slog.Warn("port: link was down for a moment", "port", p.name, "changes", between)
	}
}

// upAttrs are what the log says of a link that is up.
func (p *Port) upAttrs() []any {
	attrs := []any{"port", p.name}
	if speed := p.device.linkSpeed(); speed > 0 {
		attrs = append(attrs, "mbit", speed)
	}
	return attrs
}

// lookCloser logs what is wrong with a link that is up, when that changes.
func (p *Port) lookCloser() {
	was := p.link.impaired
	p.link.impaired = p.device.impaired()
	switch {
	case p.link.impaired == was:
	case p.link.impaired == "":
		slog.Info("port: nothing is wrong with the link any more", "port", p.name)
	default:
		slog.Error("port: the link is up, but impaired", "port", p.name, "reason", p.link.impaired)
	}
}
