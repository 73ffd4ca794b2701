// Sets of markings, formats and types that share a property. Code outside of this package asks for the property and names no
// format, so a new one is added to the sets here.

package inthdr

// set has bits of markings, formats or types.
type set uint16

func (s set) has(bit uint8) bool { return s>>bit&1 != 0 }

const (
	encloses set = 1<<ByGRE | 1<<ByVXLANGPE | 1<<ByGeneve | 1<<ByIFA | 1<<ByIOAM
	unwraps  set = 1<<ByGRE | 1<<ByIOAM
	apart    set = 1<<ByGeneve | 1<<ByIOAM
	stamps64 set = 1<<Format2 | 1<<FormatGEANT | 1<<FormatIOAM
	stamps32 set = 1 << Format1
)

// Apart reports whether INT stands among options of a header: the L4 header of these layers, and all that is behind it, are the
// packet's own.
func (m Marking) Apart() bool { return apart.has(uint8(m)) }

// Encloses reports whether a packet may stand behind INT, whatever INT and the headers in front of it say.
func (m Marking) Encloses() bool { return encloses.has(uint8(m)) }

// Foreign reports whether nodes write values in an order of their own: Locator.Hops has them as hops of INT 2.x.
func (f Format) Foreign() bool { return f >= FormatIFA }

// StampBits is the width of timestamps.
func (f Format) StampBits() uint8 {
	switch {
	case stamps64.has(uint8(f)):
		return 64
	case stamps32.has(uint8(f)):
		return 32
	}
	return 31
}

// OfINT reports whether t is a type of INT, which the shim has.
func (t Type) OfINT() bool { return t < IFA }
