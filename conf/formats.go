// Blocks of int about telemetry that is not INT: a line for each in the lists below.

package conf

import "intsink/conf/schema"

// Formats say what is taken of telemetry that is not INT; nil: nothing of that format.
type Formats struct {
	IFA  *IFA
	IOAM *IOAM
}

// format is one of these blocks.
type format interface {
	check(d checker, of *INT)
	marks() []string
}

var formatBlocks = []string{"ifa", "ioam"}

func visitFormats(v schema.Visitor, f *Formats) {
	v.Optional("ifa", schema.Pointer(&f.IFA, func() IFA { return IFA{MaxResidence: maxResidence} }, visitIFA))
	v.Optional("ioam", schema.Pointer(&f.IOAM, func() IOAM { return IOAM{Clock: POSIXClock} }, visitIOAM))
}

// all are the blocks that are there.
func (f *Formats) all() (all []format) {
	if f.IFA != nil {
		all = append(all, f.IFA)
	}
	if f.IOAM != nil {
		all = append(all, f.IOAM)
	}
	return all
}

// Marks says what marks packets with such telemetry, and what becomes of them, for summaries.
func (f *Formats) Marks() (all []string) {
	for _, x := range f.all() {
		all = append(all, x.marks()...)
	}
	return all
}
