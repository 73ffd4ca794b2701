// Makes the report templates of a burst when they are first asked for, one per type of the
// packet that is shown.

package reporting

import (
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
)

// templates holds the report templates of the burst at hand, one per type of the packet that is
// shown. They contain the sink's own metadata, which is the same for all of a burst.
type templates struct {
	of     [report.IPv6 + 1]report.Template
	made   uint8  // bit t: of[t] is valid
	domain uint16 // domain of the packets that they are for
}

// forget makes all templates invalid: a new burst begins.
func (t *templates) forget() { t.made = 0 }

// template returns the template of reports that show a packet of type in with this INT-MD, and
// makes it if needed. It returns nil if a template cannot describe them.
func (x *Reporter) template(info *inthdr.Info, in report.InType) *report.Template {
	t := &x.templates
	if t.domain == info.DomainID && t.made>>in&1 != 0 {
		return &t.of[in]
	}
	return x.makeTemplate(info, in)
}

//go:noinline
func (x *Reporter) makeTemplate(info *inthdr.Info, in report.InType) *report.Template {
	t := &x.templates
	if t.domain != info.DomainID {
		t.made, t.domain = 0, info.DomainID
	}
	if x.whole || in > report.IPv6 {
		return nil
	}
	x.fillMain(&Subject{Info: info})
	r := &x.individual
	r.InType, r.Inner, r.TrackedFlow, r.Dropped = in, nil, true, false
	if !t.of[in].Make(x.rules.Format, r, x.rules.Explain) {
		return nil
	}
	t.made |= 1 << in
	return &t.of[in]
}
