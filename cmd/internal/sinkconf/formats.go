// The blocks of int about telemetry that is not INT: a line for each.

package sinkconf

import (
	"intsink/conf"
	"intsink/engine/wire/inthdr"
)

func formatsOf(c *conf.Formats) (out inthdr.Formats) {
	if c.IFA != nil {
		out.IFA = ifaOf(c.IFA)
	}
	if c.IOAM != nil {
		out.IOAM = ioamOf(c.IOAM)
	}
	return out
}
