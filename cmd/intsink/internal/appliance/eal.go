// Composes EAL's arguments, with the memory that the pools need, and starts EAL;
// CheckMachine, which check calls.

package appliance

import (
	"fmt"
	"log/slog"
	"os/exec"
	"slices"

	"intsink/cmd/intsink/internal/rules"
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

// CheckMachine returns two errors: values of c that EAL would refuse, and why this machine cannot
// run c.
func CheckMachine(c *conf.Config) (wrong, cannot error) {
	if err := eal.CheckExtra(c.DPDK.EALArgs); err != nil {
		return err, nil
	}
	if _, _, cannot = ealArgs(c); cannot == nil && len(c.Bypass.Command) > 0 {
		if _, err := exec.LookPath(c.Bypass.Command[0]); err != nil {
			cannot = fmt.Errorf("bypass.command: %w", err)
		}
	}
	return nil, cannot
}

// ealArgs composes EAL's arguments, or says why this machine cannot run c.
func ealArgs(c *conf.Config) (args, warnings []string, err error) {
	var devices []string
	for i := range c.Ports {
		if _, ok := c.Ports[i].Kernel(); !ok {
			devices = append(devices, c.Ports[i].Device)
		}
	}
	small := poolMemoryMiB(c, smallPage)
	args, warnings, err = eal.Args(eal.Options{
		Hugepages: string(c.DPDK.Hugepages), MemoryMiB: poolMemoryMiB(c, hugePage), SmallPagesMiB: small, Devices: devices, Telemetry: c.DPDK.Telemetry, Extra: c.DPDK.EALArgs,
	})
	if err == nil && slices.Contains(args, "--no-huge") {
		err = enoughMemory(c.DPDK.Mbufs, small, AvailableMiB())
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
	packets := pages(c.DPDK.Mbufs, c.DPDK.MbufRoom())
	reports := len(c.DPDK.Lcores) * pages(conf.ReportMbufs, rules.ReportRoom(c))
	return (packets+reports)*page>>20 + ealMiB
}

const (
	smallPage    = 4 << 10
	hugePage     = 2 << 20
	mbufOverhead = 256 // rte_mbuf, mempool object header, alignment
	ealMiB       = 64
)
