package main

import (
	"fmt"
	"log/slog"
	"slices"

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
	need := poolMemoryMiB(c)
	args, warnings, err = eal.Args(eal.Options{
		Hugepages: c.DPDK.Hugepages, MemoryMiB: need, Devices: devices, Extra: c.DPDK.EALArgs,
	})
	if err == nil && slices.Contains(args, "--no-huge") {
		err = enoughMemory(c.DPDK.Mbufs, need, availableMiB())
	}
	return args, warnings, err
}

// poolMemoryMiB is what the mempools take, with what DPDK adds to each mbuf and
// room for ports and rings.
func poolMemoryMiB(c *conf.Config) int {
	packets := c.DPDK.Mbufs * (mbufRoom + mbufOverhead)
	reports := len(c.DPDK.Lcores) * reportMbufs * (reportRoom(c) + mbufOverhead)
	return (packets+reports)>>20 + ealMiB
}

const (
	mbufOverhead = 256 // rte_mbuf, mempool object header, alignment
	ealMiB       = 64
)

// needsRestart names the first block that differs between two configurations
// and cannot change while the appliance runs; "" if there is none.
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
	for _, b := range blocks {
		if b.old != b.new {
			return b.name
		}
	}
	return ""
}

// withoutBudgets are the collectors but for what of them can change.
func withoutBudgets(c *conf.Config) []conf.Collector {
	all := slices.Clone(c.Collectors)
	for i := range all {
		all[i].Budget = conf.Budget{}
	}
	return all
}
