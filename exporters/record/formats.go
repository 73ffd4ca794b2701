// Telemetry that is not INT: which of it is taken where nothing is configured, and how its hops get into a record.

package record

import (
	"intsink/engine/wire/ifa"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
)

// defaultFormats are IFA by the protocol for experiments, and IOAM of the default namespace and of that of Linux's examples.
func defaultFormats() inthdr.Formats {
	return inthdr.Formats{
		IFA:  &ifa.Config{Protocols: []uint8{253}, StripCopies: true, MaxResidence: 1e9},
		IOAM: &ioam.Config{Namespaces: []uint16{0, 123}},
	}
}

// foreignStack is stack for sound telemetry that is not INT.
func (d *Decoder) foreignStack(n int) {
	if d.info.Type == inthdr.IFA { // whose values and times are more than those of INT
		d.ifaStack(n)
		return
	}
	h := d.locator.Hops(d.frame[:n], &d.info)
	d.hops(h.Frame, h.Info, len(h.Frame))
	d.privateData(n)
}

// privateData adds what nodes say to those alone who know their namespace, as far as all nodes are within the first n bytes.
func (d *Decoder) privateData(n int) {
	r := &d.record
	d.private, d.privateEnds = d.locator.Private(d.frame[:n], &d.info, d.private[:0], d.privateEnds[:0])
	at := 0
	for k, to := range d.privateEnds {
		if k = len(r.Hops) - 1 - k; k < 0 { // the newest hop is the first on the wire
			return
		}
		if at < to {
			r.Hops[k].DSMetadata = d.private[at:to:to]
		}
		at = to
	}
}
