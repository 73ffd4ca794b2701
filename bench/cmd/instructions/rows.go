//go:build linux && amd64

package main

import (
	"fmt"
	"slices"
	"strings"

	"intsink/bench/internal/traffic"
	"intsink/engine"
	"intsink/engine/event"
	"intsink/engine/inthdr"
)

// row is a task of the worker.
type row struct {
	name    string
	traffic traffic.Spec
	rules   func(*engine.Rules) // changes those of the reference
	plain   bool                // none of its packets is INT
	silent  bool                // nothing is reported
}

var rows = []row{
	{name: "reference", traffic: traffic.Reference()},
	{name: "plain", traffic: traffic.Reference(), plain: true, rules: func(r *engine.Rules) { *r.INT.UDPPort++ }},
	{name: "strip", traffic: traffic.Reference(), silent: true, rules: func(r *engine.Rules) { r.Watches = nil }},
	{name: "sample1", traffic: traffic.Reference(), rules: func(r *engine.Rules) { r.Watches[0].Policy.Sample = 1 }},
	{name: "congestion", traffic: traffic.Reference(), rules: byQueue},
	{name: "npt2", traffic: spec(traffic.NPT2, nil)},
	{name: "tcp-dscp", traffic: spec(traffic.DSCP, func(s *traffic.Spec) { s.TCP = true }), rules: byDSCP},
	{name: "ipv6", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.IPv6 = true })},
	{name: "gre", traffic: spec(traffic.GRE, nil), rules: byGRE},
	{name: "geneve", traffic: spec(traffic.Geneve, nil), rules: byGeneve},
	{name: "hops1", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Hops = 1 })},
	{name: "hops8", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Hops = 8 })},
	{name: "size512", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Size = 512 })},
	{name: "size1400", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Size = 1400 })},
}

// spec is the reference input in another encapsulation.
func spec(e traffic.Encap, change func(*traffic.Spec)) traffic.Spec {
	s := traffic.Reference()
	s.Encap = e
	if change != nil {
		change(&s)
	}
	return s
}

// byQueue watches queues, which the traffic's never fill.
func byQueue(r *engine.Rules) {
	p := &r.Watches[0].Policy
	p.Events |= event.Congestion.Set() | event.TxUtilization.Set()
	p.Thresholds.CongestionRaise, p.Thresholds.TxRaise = 1<<24-1, 1<<31
}

func byDSCP(r *engine.Rules) {
	r.INT = inthdr.Config{Version2: true, DSCP: &inthdr.DSCP{Value: traffic.DSCPValue, Mask: 0x3f}}
}

func byGRE(r *engine.Rules) {
	protocol := uint16(traffic.GREProtocol)
	r.INT = inthdr.Config{Version2: true, GREProtocol: &protocol}
}

func byGeneve(r *engine.Rules) {
	g := inthdr.Geneve{Port: traffic.GenevePort, OptionClass: traffic.GeneveOptionClass}
	r.INT = inthdr.Config{Version2: true, Geneve: &g}
}

func rowNames() []string {
	var names []string
	for i := range rows {
		names = append(names, rows[i].name)
	}
	return names
}

// rowsNamed picks from a list with commas; empty means all.
func rowsNamed(list string) ([]row, error) {
	if list == "" {
		return rows, nil
	}
	var picked []row
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no row %q; there are %s", name, strings.Join(rowNames(), ", "))
		}
		picked = append(picked, rows[i])
	}
	return picked, nil
}
