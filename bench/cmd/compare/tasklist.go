package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/traffic"
	"intsink/engine/wire/intgen"
)

// What marks INT in the inputs.
var (
	byPort     = fmt.Sprintf("udp_port = %d", traffic.UDPPort)
	byDSCP     = fmt.Sprintf("dscp = { value = %d, mask = 63 }", traffic.DSCPValue)
	byProbe    = fmt.Sprintf("probe_marker = \"%#016x\"", uint64(traffic.ProbeMarker))
	byGRE      = fmt.Sprintf("gre_protocol = %d", traffic.GREProtocol)
	byVXLANGPE = fmt.Sprintf("vxlan_gpe = { port = %d, next_protocol = %d }", traffic.GPEPort, traffic.GPENextProtocol)
	byGeneve   = fmt.Sprintf("geneve = { port = %d, option_class = %d }", traffic.GenevePort, traffic.GeneveOptionClass)
	byAny      = strings.Join([]string{byPort, byDSCP, byProbe}, "\n  ")
)

// Lists of events. By default link_latency and tx_utilization look at samples alone; eachPacket has them look at each.
const (
	everyEvent = `["new_flow", "path_change", "hop_latency", "end_to_end", "link_latency", "congestion", "tx_utilization", "refresh", "flow_end",
    "loss", "drop", "hop_limit", "mtu_exceeded", "malformed", "leak", "unknown_domain"]`
	noRefresh = `["new_flow", "path_change", "hop_latency", "end_to_end", "link_latency", "congestion", "tx_utilization", "flow_end", "loss", "drop", "hop_limit", "mtu_exceeded", "malformed", "leak",
    "unknown_domain"]`
	withTx = `["new_flow", "path_change", "hop_latency", "end_to_end", "link_latency", "congestion", "tx_utilization", "refresh", "flow_end", "loss", "drop", "hop_limit",
    "mtu_exceeded", "malformed", "leak", "unknown_domain"]`
	thresholds = "congestion { raise = 1000 }" // queues of the inputs hold less than 100
	eachTx     = "tx_utilization { raise = 90 }"
	eachPacket = thresholds + "\n  " + eachTx + "\n  link_latency { absolute = \"10us\" }"
)

// tasks returns all rows, those of equal frames together.
func tasks() []task {
	return slices.Concat(referenceTasks(), headerTasks(), eventTasks(), flowTasks(), sizeTasks(), []task{
		{name: "workers2", title: "two workers", spec: traffic.Reference(), workers: 2, instructions: referenceName, dut: watching(byPort)},
	})
}

// watching returns a watch of all flows with the events that are on by default.
func watching(mark string) dut.Task { return dut.Task{INT: mark, Watch: true} }

// watchingWith returns the same for the reference input, changed.
func watchingWith(change func(*dut.Task)) dut.Task {
	t := watching(byPort)
	change(&t)
	return t
}

// referenceTasks differ in what the sink does with the reference input.
func referenceTasks() []task {
	on := func(name, title string, d dut.Task) task {
		return task{name: name, title: title, spec: traffic.Reference(), dut: d, instructions: name}
	}
	table := func(name, title string, flows int) task {
		t := on(name, title, watchingWith(func(t *dut.Task) { t.Capacity = flows }))
		t.instructions = referenceName
		return t
	}
	notINT := on("plain", "not INT", watching(fmt.Sprintf("udp_port = %d", traffic.UDPPort+1)))
	notINT.plain = true
	all := []task{
		notINT,
		on("strip", "strip only", dut.Task{INT: byPort}),
		on(referenceName, "reference input", watching(byPort)),
		on("sample1", "report for every packet", watchingWith(func(t *dut.Task) { t.Sample = 1 })),
		on("explained", "report for every packet, explained", watchingWith(func(t *dut.Task) { t.Sample, t.Report = 1, "explain = true" })),
		on("budget", "report for every packet, explained, a budget", watchingWith(func(t *dut.Task) { t.Sample, t.Report, t.Budget = 1, "explain = true", 1000 })),
		on("shed", "report for every packet, a budget", watchingWith(func(t *dut.Task) { t.Sample, t.Budget = 1, 1000 })),
		on("report10", "report for every packet, version 1.0", watchingWith(func(t *dut.Task) { t.Sample, t.Report = 1, `version = "1.0"` })),
		on("report05", "report for every packet, version 0.5", watchingWith(func(t *dut.Task) { t.Sample, t.Report = 1, `version = "0.5"` })),
		on("transparent", "report for every packet, Transparent Security", watchingWith(func(t *dut.Task) { t.Sample, t.Report = 1, `profile = "transparent-security"` })),
		on("sample10", "report for every tenth packet", watchingWith(func(t *dut.Task) { t.Sample = 10 })),
		on("norefresh", "watch without refresh", watchingWith(func(t *dut.Task) { t.Events = noRefresh })),
		table("table2k", "table for 2000 flows", 2000),
		table("table1m", "table for 1,048,576 flows", 1<<20),
	}
	for i := range all[:4] {
		all[i].short = true
	}
	return all
}

// headerTasks differ from the reference in the frames' headers.
func headerTasks() []task {
	with := func(name, title, mark string, h traffic.Headers) task {
		return task{name: name, title: title, spec: variant(func(s *traffic.Spec) { s.Headers = h }), dut: watching(mark), instructions: name}
	}
	mix := func(name, title string, kinds int) task {
		return task{name: name, title: title, spec: variant(func(s *traffic.Spec) { s.Mix, s.Size = kinds, mixSize }), dut: watching(byAny), instructions: name}
	}
	all := []task{
		with("udp-dscp", "UDP by DSCP", byDSCP, traffic.Headers{Encap: traffic.DSCP}),
		with("tcp-dscp", "TCP by DSCP", byDSCP, traffic.Headers{Encap: traffic.DSCP, TCP: true}),
		with("ipv6", "IPv6", byPort, traffic.Headers{Encap: traffic.UDP, IPv6: true}),
		with("tcp6-dscp", "TCP over IPv6 by DSCP", byDSCP, traffic.Headers{Encap: traffic.DSCP, TCP: true, IPv6: true}),
		with("vlan", "VLAN tag", byPort, traffic.Headers{Encap: traffic.UDP, Tags: 1}),
		with("qinq", "QinQ", byPort, traffic.Headers{Encap: traffic.UDP, Tags: 2}),
		with("npt2", "NPT 2", byPort, traffic.Headers{Encap: traffic.NPT2}),
		with("probe", "probe marker", byProbe, traffic.Headers{Encap: traffic.Probe}),
		mix("mix4", "mix of UDP, TCP, IPv6 and a tag", 4),
		mix("mix", "mix of eight kinds of headers", len(traffic.Mixed)),
		with("gre", "GRE", byGRE, traffic.Headers{Encap: traffic.GRE}),
		with("gpe", "VXLAN-GPE", byVXLANGPE, traffic.Headers{Encap: traffic.VXLANGPE}),
		with("geneve", "Geneve", byGeneve, traffic.Headers{Encap: traffic.Geneve}),
	}
	for _, f := range traffic.Formats {
		all = append(all, with(string(f.Encap), f.Title, f.Block, f.Headers))
	}
	return append(all, []task{
		{name: "int-ifa", title: "INT and IFA, half of the flows each", dut: watching(byPort + "\n  " + traffic.Formats[0].Block), instructions: "int-ifa", spec: variant(withIFA)},
		{name: "int10", title: "INT 1.0 by DSCP", dut: watching(byDSCP + "\n  versions = [\"2\", \"1\"]"), instructions: "int10",
			spec: variant(func(s *traffic.Spec) { s.Encap, s.Format = traffic.DSCP, intgen.Format1 })},
		{name: "mx", title: "INT-MX", dut: watching(byPort), instructions: "mx", spec: variant(func(s *traffic.Spec) { s.MX = true })},
		{name: "nodes", title: "hops of node ids alone", dut: watching(byPort), instructions: "nodes",
			spec: variant(func(s *traffic.Spec) { s.Bitmap = 0x8000 })},
		{name: "nodes-queues", title: "hops of node ids and queues", dut: watching(byPort), instructions: "nodes-queues",
			spec: variant(func(s *traffic.Spec) { s.Bitmap = 0x9000 })},
		{name: "bitmaps", title: "two bitmaps of one length", dut: watching(byPort), instructions: "bitmaps",
			spec: variant(func(s *traffic.Spec) { s.Bitmaps = true })},
	}...)
}

// withIFA lets half of the flows have IFA, with room for three hops of 32 bytes.
func withIFA(s *traffic.Spec) { s.WithIFA, s.Size = true, mixSize }

// mixSize is a length that all frames of a mix can have: TCP over IPv6 takes 150 bytes with three
// hops.
const mixSize = 160

// eventTasks differ from the reference in the values of hops.
func eventTasks() []task {
	every := watchingWith(func(t *dut.Task) { t.Events, t.Limits = everyEvent, eachPacket })
	full := watchingWith(func(t *dut.Task) { t.Limits = thresholds }) // in the first minute nobody knows what is usual
	return []task{
		{name: "varied", title: "values that vary", spec: variant(vary), dut: watching(byPort), instructions: "varied"},
		{name: "events", title: "every event on, with timestamps", spec: variant(func(s *traffic.Spec) { vary(s); s.Stamps = true }),
			dut: every, instructions: "events"},
		{name: "episode", title: "all through a queue in an episode", spec: variant(func(s *traffic.Spec) { s.Full = true }), dut: full, instructions: "episode-raise"},
		{name: "busy", title: "one flow in ten by a busy interface", spec: variant(func(s *traffic.Spec) { vary(s); s.Busy = 10 }),
			dut: watchingWith(func(t *dut.Task) { t.Events, t.Limits = withTx, eachTx }), instructions: "busy"},
	}
}

// vary lets each flow have ten packets of the capture: ten latencies and occupancies,
// all within the deadband.
func vary(s *traffic.Spec) { s.Flows = s.Frames / 10 }

// flowTasks differ in the number of flows.
func flowTasks() []task {
	with := func(name, title string, flows, mix, capacity int) task {
		s := variant(func(s *traffic.Spec) { s.Flows, s.Frames, s.Mix = flows, flows, mix })
		t := task{name: name, title: title, spec: s, instructions: referenceName, dut: watchingWith(func(t *dut.Task) { t.Capacity = capacity })}
		if mix > 0 {
			t.spec.Size, t.dut.INT, t.instructions = mixSize, byAny, "mix"
		}
		return t
	}
	flood := with("flood", "flood, 1,048,576 flows in 65,536", 1<<20, 0, 1<<16)
	flood.flood, flood.instructions = true, "flood"
	cold := with("cold", "frames of twice the L3, 1000 flows", 1000, 0, 1<<16)
	cold.spec.Frames = coldFrames(cold.spec.Size)
	ifa := with("ifa1m", "1,048,576 flows, half of them with IFA", 1<<20, 0, 1<<21)
	withIFA(&ifa.spec)
	ifa.dut.INT, ifa.instructions = byPort+"\n  "+traffic.Formats[0].Block, "int-ifa"
	return []task{
		cold,
		with("flows64k", "65,536 flows", 1<<16, 0, 1<<17),
		with("flows1m", "1,048,576 flows", 1<<20, 0, 1<<21),
		flood,
		with("mix1m", "1,048,576 flows of the mix", 1<<20, len(traffic.Mixed), 1<<21),
		ifa,
	}
}

// coldFrames is how many frames of a size take twice as much as the last cache holds: each is in memory when it is
// copied again.
func coldFrames(size int) int {
	lines := headerLen + (size+lineLen-1)/lineLen*lineLen
	return 2 * cmp.Or(dut.Cache(3), 32<<20) / lines
}

// sizeTasks differ in the number of hops and the length of the frames.
func sizeTasks() []task {
	with := func(name, title string, change func(*traffic.Spec)) task {
		return task{name: name, title: title, spec: variant(change), dut: watching(byPort), instructions: name}
	}
	return []task{
		with("hops1", "1 hop", func(s *traffic.Spec) { s.Hops = 1 }),
		with("hops8", "8 hops", func(s *traffic.Spec) { s.Hops = 8 }),
		with("size512", "512 bytes", func(s *traffic.Spec) { s.Size = 512 }),
		with("size1400", "1400 bytes", func(s *traffic.Spec) { s.Size = 1400 }),
	}
}
