// Rule: what selects a packet, and until when.

// Package selector finds which of many rules selects a packet: rules of mitigation, or what a capture wants.
//
//	rule.go    a rule: what it selects, and until when
//	table.go   from rules to bit vectors, and the first rule that selects a packet (package classify)
//	reader.go  what rules ask of a packet
package selector

import (
	"math"
	"net/netip"
	"sync/atomic"

	"intsink/internal/ranges"
)

// MaxRules bounds the rules of a Table.
const MaxRules = 1024

// Match is what a rule selects. A list that is not empty must have an entry that fits; a
// rule that asks for addresses, protocol or ports selects IP packets only.
type Match struct {
	Source, Destination         []netip.Prefix
	Protocol                    []uint8
	SourcePort, DestinationPort []PortRange
	Device                      []uint64 // domain specific metadata with the role device_id
	SourceMAC                   []uint64 // of the Ethernet header, 48 bits
}

// PortRange is an inclusive range of ports.
type PortRange = ranges.Range[uint16]

// Rule is one rule.
type Rule struct {
	Match   Match
	expires atomic.Int64 // nanoseconds of the workers' clock
}

// Extend makes expires the rule's end. Safe from any goroutine.
func (r *Rule) Extend(expires int64) { r.expires.Store(expires) }

// Expires returns when the rule ends. Safe from any goroutine.
func (r *Rule) Expires() int64 { return r.expires.Load() }

// Of makes a Table of rules that do not end; nil: there are none.
func Of(all ...Match) *Table {
	rules := make([]*Rule, len(all))
	for i, m := range all {
		rules[i] = &Rule{Match: m}
		rules[i].Extend(math.MaxInt64)
	}
	return New(rules)
}
