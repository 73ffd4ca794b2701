// Telemetry that is not INT: a line for each format in the lists below.

package intgen

// Markings of such telemetry.
const (
	ByIFA  Marking = ByGeneve + 1 + iota // IFA 2.0 by the protocol of IP: what other switches write
	ByIOAM                               // IOAM in extension headers of IPv6: what routers write
)

// Foreign reports whether packets with that marking have no INT, but other telemetry.
func (m Marking) Foreign() bool { return m > ByGeneve }

// Formats are what sources of such telemetry write.
type Formats struct {
	IFA  IFA
	IOAM IOAM
}

// insertForeign is Insert for such telemetry.
func (s *Source) insertForeign(frame []byte, hops []Hop) ([]byte, error) {
	if s.Marking == ByIFA {
		return s.IFA.insert(frame, hops)
	}
	if s.IOAM.Tunnel {
		var err error
		if frame, err = s.tunnel(frame); err != nil {
			return nil, err
		}
	}
	return s.IOAM.insert(frame, hops)
}
