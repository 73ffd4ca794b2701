// Result: counts the kinds and packets that were tried, those that were not and why; Difference,
// the first one.

package verify

// Result is the JSON of --json.
type Result struct {
	Capture   string       `json:"capture"`
	Seed      uint64       `json:"seed"`
	Packets   int          `json:"packets"`    // of the capture that were read
	Tried     int          `json:"tried"`      // of these, with one kind of INT at least
	Cases     int          `json:"cases"`      // a packet with INT of one kind, headers and number of hops
	Different int          `json:"different"`  // cases that did not give back every byte
	NotTried  []NotTried   `json:"not_tried"`  // packets, with no kind of INT
	Beyond    bool         `json:"beyond"`     // there are more packets than --limit
	Kinds     []KindResult `json:"kinds"`      // in the order in which they are tried
	First     *Difference  `json:"difference"` // the first one; null: there is none
}

// KindResult is what came out for one kind of INT.
type KindResult struct {
	Kind      string     `json:"kind"`
	Version   string     `json:"version"` // of INT
	Headers   []string   `json:"headers"`
	Hops      []int      `json:"hops"`
	Packets   int        `json:"packets"`
	Cases     int        `json:"cases"`
	Different int        `json:"different"`
	NotTried  []NotTried `json:"not_tried"`
}

// NotTried is packets that were not tried, for one reason.
type NotTried struct {
	Reason  string `json:"reason"`
	Packets int    `json:"packets"`
}

// Difference is a case in which the sink did not give back every byte.
type Difference struct {
	Frame   int    `json:"frame"` // number in the capture, from 1
	Kind    string `json:"kind"`
	Version string `json:"version"`
	Header  string `json:"header"`
	Hops    int    `json:"hops"`
	Pass    int    `json:"pass"`   // 1: the headers were new to the sink; 2: it knew them
	Offset  int    `json:"offset"` // of the first byte that is another
	Want    string `json:"want"`   // hexadecimal: the packet without INT
	Got     string `json:"got"`    // what the sink made of it; "": it was dropped
	Marked  string `json:"marked"` // the packet with INT
}

// count adds a packet to those that were not tried for a reason.
func count(all *[]NotTried, reason string) {
	for i := range *all {
		if (*all)[i].Reason == reason {
			(*all)[i].Packets++
			return
		}
	}
	*all = append(*all, NotTried{reason, 1})
}

// add appends x unless it is there.
func add[T comparable](all *[]T, x T) {
	for _, y := range *all {
		if x == y {
			return
		}
	}
	*all = append(*all, x)
}
