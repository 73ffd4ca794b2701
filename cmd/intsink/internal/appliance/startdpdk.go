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

// startDPDK starts DPDK as the configuration asks, with hugepages where it can, and keeps other threads than
// the workers' off their CPUs.
func (a *Appliance) startDPDK(c *conf.Config) (stop func(), err error) {
	args, warnings, err := ealArgs(c)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		slog.Warn(w)
	}
	if err := eal.Init(args); err != nil {
		return nil, err
	}
	a.hugepages = !slices.Contains(args, "--no-huge")
	a.wallClock = eal.NewWallClock(nil)
	a.env.WallClock = a.wallClock.Offset
	return eal.Cleanup, keepOff(c.DPDK.Lcores)
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
	small := rules.PoolMiB(c, rules.SmallPage)
	args, warnings, err = eal.Args(eal.Options{
		Hugepages: string(c.DPDK.Hugepages), MemoryMiB: rules.PoolMiB(c, rules.HugePage), SmallPagesMiB: small, Devices: devices, Telemetry: c.DPDK.Telemetry, Extra: c.DPDK.EALArgs,
	})
	if err == nil && slices.Contains(args, "--no-huge") {
		err = enoughMemory(c.DPDK.Mbufs, small, AvailableMiB())
	}
	return args, warnings, err
}
