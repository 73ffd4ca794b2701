// Faults: what can be made to go wrong in the network, by a word each.

package scene

import (
	"errors"
	"fmt"
	"strings"
)

// Where the faults are.
const (
	slowSpine = 202
	dead      = 203
	standIn   = 204 // flows of the dead spine go by it
	lossy     = 201 // packets from here ...
	lossyTo   = 301 // ... to here get lost
	culprit   = 55  // the flow that fills its queue, 302:12:2
	burst     = 20  // packets that it sends in place of one
)

const (
	slow = 1 << iota
	fill
	move
	lose
)

// Fault is something that can go wrong.
type Fault struct {
	Word   string
	bit    uint32
	Does   string // what is said of it
	Is     string // where and what it is
	Really string // and of routers of Linux
}

// Faults are all.
var Faults = []Fault{
	{"slow", slow, "one switch has become slow", "spine 202 keeps every packet 300 us longer", "router 202 holds every packet against 8000 rules"},
	{"fill", fill, "one flow fills a queue", "a flow of leaf 102 fills queue 2 of interface 12 of leaf 302: every packet in it waits 1.7 ms longer", "a flow of leaf 102 sends 7 Mbit/s, in bursts, into interface 12 of leaf 302, which lets 8 out and has others to let out: every packet there waits"},
	{"move", move, "a switch has died, and its flows take another way", "spine 203 is gone: its flows go by spine 204", "router 203 is gone: its flows go by router 204"},
	{"lose", lose, "packets get lost between two switches", "one packet in five from spine 201 to leaf 301 is lost", "one packet in five from router 201 to leaf 301 is lost"},
}

// Do does what a word says: that of a fault, calm (all of them end), what (tells where they are), help.
func (n *Network) Do(word string) (string, error) {
	word = strings.TrimSpace(word)
	switch word {
	case "calm":
		n.faults.Store(0)
		if err := n.toRouters(word); err != nil {
			return "", err
		}
		return "All is well again. What the sink found stays in its list for a day.", nil
	case "what":
		return n.what(), nil
	case "help", "":
		return help(), nil
	}
	if word == "lose" && n.IFA {
		return "", errors.New("packets with IFA bear no numbers: nobody can tell that one is lost; lose is for INT")
	}
	for _, f := range Faults {
		if f.Word == word {
			if err := n.toRouters(word); err != nil {
				return "", err
			}
			n.faults.Or(f.bit)
			return fmt.Sprintf("Now %s. Which, and since when? Type what for the answer.", f.Does), nil
		}
	}
	return "", fmt.Errorf("%.20q is no command; %s", word, help())
}

// toRouters gives a word to routers of Linux, where the network is of such.
func (n *Network) toRouters(word string) error {
	if n.routers == nil {
		return nil
	}
	return n.routers(word)
}

// what is wrong, or that nothing is.
func (n *Network) what() string {
	var all []string
	for _, f := range Faults {
		switch {
		case n.faults.Load()&f.bit == 0:
		case n.routers != nil:
			all = append(all, f.Word+": "+f.Really)
		case f.bit == fill && n.Sinks > 1:
			all = append(all, "fill: a flow of leaf 102 fills the queue of spine 204 to leaf 302: every packet in it waits 1.7 ms longer")
		default:
			all = append(all, f.Word+": "+f.Is)
		}
	}
	if all == nil {
		return "Nothing is wrong."
	}
	return strings.Join(all, "\n")
}

func help() string {
	text := "commands:"
	for _, f := range Faults {
		text += fmt.Sprintf("\n  %-5s %s", f.Word, f.Does)
	}
	return text + "\n  calm  all of it ends\n  what  the answer: what is wrong, and where\n  help  this list\nCtrl-C ends it all."
}
