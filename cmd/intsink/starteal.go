package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"intsink/conf"
	"intsink/dpdk/eal"
)

// startEAL starts DPDK as the configuration asks, with hugepages where it can.
func startEAL(c *conf.Config) error {
	args, warnings, err := ealArgs(c)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		slog.Warn(w)
	}
	return eal.Init(args)
}

// ealArgs composes EAL's arguments, or says why this machine cannot run c.
func ealArgs(c *conf.Config) (args, warnings []string, err error) {
	var devices []string
	for i := range c.Ports {
		devices = append(devices, c.Ports[i].Device)
	}
	small := poolMemoryMiB(c, smallPage)
	args, warnings, err = eal.Args(eal.Options{
		Hugepages: c.DPDK.Hugepages, MemoryMiB: poolMemoryMiB(c, hugePage), SmallPagesMiB: small, Devices: devices, Extra: c.DPDK.EALArgs,
	})
	if err == nil && slices.Contains(args, "--no-huge") {
		err = enoughMemory(c.DPDK.Mbufs, small, availableMiB())
	}
	return args, warnings, err
}

// poolMemoryMiB is what the mempools take in pages of this size, with what DPDK
// adds to each mbuf and room for ports and rings. An mbuf that is shorter than a
// page does not cross one.
func poolMemoryMiB(c *conf.Config, page int) int {
	pages := func(mbufs, room int) int {
		size := room + mbufOverhead
		if size > page {
			return mbufs * ((size + page - 1) / page)
		}
		perPage := page / size
		return (mbufs + perPage - 1) / perPage
	}
	packets := pages(c.DPDK.Mbufs, conf.MbufRoom)
	reports := len(c.DPDK.Lcores) * pages(conf.ReportMbufs, reportRoom(c))
	return (packets+reports)*page>>20 + ealMiB
}

const (
	smallPage    = 4 << 10
	hugePage     = 2 << 20
	mbufOverhead = 256 // rte_mbuf, mempool object header, alignment
	ealMiB       = 64
)

// needsRestart names the blocks that differ between two configurations
// and cannot change while the appliance runs; "" if there are none.
func needsRestart(old, c *conf.Config) string {
	blocks := []struct{ name, old, new string }{
		{"node", fmt.Sprint(old.Node), fmt.Sprint(c.Node)},
		{"dpdk", fmt.Sprint(old.DPDK), fmt.Sprint(c.DPDK)},
		{"port", fmt.Sprint(old.Ports), fmt.Sprint(c.Ports)},
		{"link", fmt.Sprint(old.Links), fmt.Sprint(c.Links)},
		{"tap", fmt.Sprint(old.Taps), fmt.Sprint(c.Taps)},
		{"flows", fmt.Sprint(old.Flows), fmt.Sprint(c.Flows)},
		{"collector", fmt.Sprint(withoutBudgets(old)), fmt.Sprint(withoutBudgets(c))},
		{"http", fmt.Sprint(old.HTTP), fmt.Sprint(c.HTTP)},
		{"report.coalesce.max_bytes", fmt.Sprint(old.Report.Coalesce.MaxBytes), fmt.Sprint(c.Report.Coalesce.MaxBytes)},
	}
	var changed []string
	for _, b := range blocks {
		if b.old != b.new {
			changed = append(changed, b.name)
		}
	}
	return strings.Join(changed, ", ")
}

// withoutBudgets are the collectors but for what of them can change.
func withoutBudgets(c *conf.Config) []conf.Collector {
	all := slices.Clone(c.Collectors)
	for i := range all {
		all[i].Budget = conf.Budget{}
	}
	return all
}
