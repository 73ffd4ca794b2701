//go:build linux && amd64

package main

import (
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"

	"intsink/bench/internal/results"
	"intsink/bench/internal/traffic"
	"intsink/engine"
	"intsink/engine/aside/mitigate"
	"intsink/engine/selector"
	"intsink/engine/wire/packet"
)

// curve is the reference input with more and more of one thing.
type curve struct {
	name, what string
	points     []int
	at         func(r *row, n int)
}

// curves are what `instructions -growth` counts. A point is a row by the name of its curve, a colon and its number.
var curves = []curve{
	{"hops", "hops in each packet", []int{1, 2, 3, 4, 6, 8, 10, 12, 14, 16}, func(r *row, n int) { r.traffic.Hops, r.traffic.Size = n, 138+20*max(0, n-3) }},
	{"bytes", "bytes of a packet", []int{138, 512, 1400, 9000}, func(r *row, n int) { r.traffic.Size = n }},
	{"watches", "watches; the last one selects the packets", []int{1, 10, 50, 100, 200}, manyWatches},
	{"rules", "rules of mitigation; none selects a packet", []int{0, 1, 10, 100, mitigate.MaxRules}, manyRules},
	{"selected", "rules of mitigation; the last one counts all packets", []int{1, mitigate.MaxRules}, func(r *row, n int) {
		manyRules(r, n-1)
		r.mitigations = append(r.mitigations, mitigate.NewRule(uint64(n), selector.Match{Protocol: []uint8{packet.ProtoUDP}}, mitigate.Count, 0, 0, math.MaxInt64, 1))
	}},
	{"links", "links; one has packets", []int{1, 2, 4, 8, 16, 32}, func(r *row, n int) { r.links = n }},
}

// manyWatches puts n-1 watches of other destinations in front of the watch of all.
func manyWatches(r *row, n int) {
	r.rules = func(rules *engine.Rules) {
		all := rules.Watches[0]
		rules.Watches = nil
		for i := range n - 1 {
			w := all
			w.Name, w.Destination = fmt.Sprint("w", i), []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}), 32)}
			rules.Watches = append(rules.Watches, w)
		}
		rules.Watches = append(rules.Watches, all)
	}
}

// manyRules has n rules of mitigation for sources that send nothing.
func manyRules(r *row, n int) {
	for i := range n {
		source := netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, byte(i >> 8), byte(i)}), 32)
		m := selector.Match{Source: []netip.Prefix{source}, Protocol: []uint8{packet.ProtoUDP}}
		r.mitigations = append(r.mitigations, mitigate.NewRule(uint64(i+1), m, mitigate.Drop, 0, 0, math.MaxInt64, 1))
	}
}

// pointNamed returns the row of a point, such as hops:8.
func pointNamed(name string) (row, bool) {
	of, number, _ := strings.Cut(name, ":")
	n, err := strconv.Atoi(number)
	for _, c := range curves {
		if c.name == of && err == nil {
			r := row{name: name, traffic: traffic.Reference()}
			c.at(&r, n)
			return r, true
		}
	}
	return row{}, false
}

// growth counts all points and returns them as tables.
func growth() (string, error) {
	var b strings.Builder
	for _, c := range curves {
		cells := [][]string{{c.what}, {"instructions a packet"}}
		for _, n := range c.points {
			p, err := trace(fmt.Sprintf("%s:%d", c.name, n), 2)
			if err != nil {
				return "", fmt.Errorf("%s:%d: %w", c.name, n, explain(err))
			}
			cells[0], cells[1] = append(cells[0], strconv.Itoa(n)), append(cells[1], fmt.Sprintf("%.0f", p.perPacket(p.perFunction())))
		}
		b.WriteString(results.Table(cells) + "\n")
	}
	return b.String(), nil
}

// printGrowth prints the tables, and puts them into the section growth of file, unless that is empty.
func printGrowth(file string) error {
	tables, err := growth()
	if err != nil {
		return err
	}
	fmt.Print(tables)
	if file == "" {
		return nil
	}
	return results.Replace(file, "growth", results.Heading()+tables)
}
