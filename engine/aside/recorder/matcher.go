// Matcher: which recorded packets a filter of captures wants.

package recorder

import (
	"slices"

	"intsink/engine/aside/capture"
	"intsink/engine/selector"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
)

// Matcher holds recorded packets against filters. It belongs to one goroutine.
type Matcher struct {
	reader   selector.Reader
	locators []*inthdr.Locator
}

// NewMatcher makes one for packets of links whose INT is read by locators, where devices has ids of devices.
func NewMatcher(locators []*inthdr.Locator, devices watch.Devices) *Matcher {
	m := &Matcher{locators: locators}
	m.reader.Adopt(devices, false)
	return m
}

// Fits reports whether p fits all of f, as a packet that is captured live does.
func (m *Matcher) Fits(f *capture.Filter, p *capture.Record) bool {
	stage := capture.In
	if p.Out {
		stage = capture.Out
	}
	return f.Stages&stage != 0 && f.FitsLink(p.Link) && (!f.AsksFlow() || slices.Contains(f.Watches, p.Watch)) && f.FitsEvents(p.Events) &&
		f.FitsReason(p.Dropped, p.Reason, p.Malformed) && (f.Match == nil || p.Link < len(m.locators) && m.reader.OfFrame(f.Match, p.Data, p.Len, m.locators[p.Link], p.Time) != selector.None)
}
