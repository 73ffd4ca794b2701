// Telemetry that is not INT: what packets have of each format, whether the configuration takes it or not.

package simulate

import (
	"intsink/conf"
	"intsink/engine/wire/packet"
)

// Seen is what was found.
type Seen struct {
	IFA  []IFASeen  `json:"ifa,omitempty"`
	IFA1 int        `json:"ifa1_packets,omitempty"` // with H3C's marker of IFA 1.0
	IOAM []IOAMSeen `json:"ioam,omitempty"`
}

// foreignTries look for one format in packets.
type foreignTries interface {
	packet(frame []byte, l packet.Layers)
	blocks() []string           // int that take what was found
	under(c *conf.INT) []string // lines about what was found, and what a configuration makes of it
	fill(s *Seen)
}

// lookedFor says in which ways.
const lookedFor = "as IFA by any IP protocol, or as IOAM of any namespace"

func newForeignTries() []foreignTries {
	ifa := newIFATries()
	return []foreignTries{ifa, newIOAMTries(), ifa1Tries{ifa}}
}

// Seen is what packets have of telemetry that is not INT.
func (u *Unmarked) Seen() (s Seen) {
	for _, f := range u.foreign {
		f.fill(&s)
	}
	return s
}

// Under are lines about such packets, and about what the configuration makes of them.
func (u *Unmarked) Under(c *conf.INT) (lines []string) {
	for _, f := range u.foreign {
		lines = append(lines, f.under(c)...)
	}
	return lines
}
