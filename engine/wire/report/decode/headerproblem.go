// Problem: the closed list of what can be wrong with the headers of a report.

package decode

// Problem is what is wrong with a report. The list is closed.
type Problem uint8

const (
	NoProblem Problem = iota
	ProblemLength
	ProblemMain
	ProblemMDLength
	ProblemInType
	ProblemTLV
	ProblemHeader
	NumProblems
)

var problems = [NumProblems]struct{ label, text string }{
	ProblemLength:   {"report_length", "truncated: the report's length goes beyond the end of the packet"},
	ProblemMain:     {"main_contents", "the report is too short for the main contents of its RepType"},
	ProblemMDLength: {"md_length", "MD Length does not agree with RepMdBits and DSMdBits, or goes beyond the report"},
	ProblemInType:   {"in_type", "the inner contents are not what InType says"},
	ProblemTLV:      {"tlv", "a TLV goes beyond the end of the inner contents"},
	ProblemHeader:   {"header_length", "Length, RepMdBits and NProt of the version 1.0 header do not agree"},
}

// String returns the value of the field problem.
func (p Problem) String() string { return problems[p].label }

// Text returns a sentence for people.
func (p Problem) Text() string { return problems[p].text }

// problem notes what is wrong, unless something was before.
func (r *Report) problem(p Problem) {
	if r.Problem == NoProblem {
		r.Problem = p
	}
}
