// Makes an ioam.Config of block ioam.

package sinkconf

import (
	"intsink/conf"
	"intsink/engine/wire/ioam"
)

var ioamClocks = map[conf.IOAMClock]ioam.Clock{conf.POSIXClock: ioam.POSIX, conf.TruncatedPTPClock: ioam.PTP, conf.NTPClock: ioam.NTP}

// ioamOf converts block ioam.
func ioamOf(c *conf.IOAM) *ioam.Config {
	out := &ioam.Config{Namespaces: c.Namespace, Clock: ioamClocks[c.Clock], FlowSequence: c.FlowSequence}
	for _, a := range c.Decapsulate {
		out.Ends = append(out.Ends, a.As16())
	}
	return out
}
