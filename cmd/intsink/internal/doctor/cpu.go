// doctor on CPUs: isolation, hyperthreads, governor, irqbalance, clock source.

package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"intsink/conf"
)

// isolation looks at whether the scheduler and the timer tick leave the workers' CPUs
// alone.
func isolation(h *host, c *conf.Config) []Finding {
	isolated, quiet := cpuList(h.text("sys/devices/system/cpu/isolated")), cpuList(h.text("sys/devices/system/cpu/nohz_full"))
	var open, ticking []int
	for _, l := range c.DPDK.Lcores {
		if !isolated[l] {
			open = append(open, l)
		}
		if !quiet[l] {
			ticking = append(ticking, l)
		}
	}
	var all []Finding
	want := list(c.DPDK.Lcores)
	grub := fmt.Sprintf("add isolcpus=%s nohz_full=%s rcu_nocbs=%s to GRUB_CMDLINE_LINUX in /etc/default/grub, then: update-grub && reboot", want, want, want)
	switch {
	case len(open) > 0:
		all = append(all, slow(byHand(grub), "other processes may run on CPU %s, which workers poll on: pauses of milliseconds", list(open)))
	case len(ticking) > 0:
		all = append(all, slow(byHand(grub), "the timer tick interrupts CPU %s a hundred times a second or more", list(ticking)))
	default:
		all = append(all, ok("CPUs of workers (%s) are isolated and without a tick", want))
	}
	online := cpuList(h.text("sys/devices/system/cpu/online"))
	for _, l := range c.DPDK.Lcores {
		if len(online) > 0 && !online[l] {
			all = append(all, fault(byHand("choose others for dpdk.lcores; online are "+h.text("sys/devices/system/cpu/online")), "CPU %d of dpdk.lcores is not online", l))
		}
	}
	return all
}

// siblings looks for hyperthreads that share a core with a worker.
func siblings(h *host, c *conf.Config) []Finding {
	worker := map[int]bool{}
	for _, l := range c.DPDK.Lcores {
		worker[l] = true
	}
	for _, l := range c.DPDK.Lcores {
		for s := range cpuList(h.text(fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", l))) {
			if s != l && worker[s] {
				return []Finding{slow(byHand("leave one of each pair out of dpdk.lcores"), "CPU %d and %d are hyperthreads of one core, and both have a worker: each gets about half", min(l, s), max(l, s))}
			}
		}
	}
	return nil
}

// governor looks at whether the CPUs of workers slow down to save power.
func governor(h *host, c *conf.Config) []Finding {
	for _, l := range c.DPDK.Lcores {
		g := h.text(fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", l))
		if g != "" && g != "performance" {
			return []Finding{slow("cpupower -c "+list(c.DPDK.Lcores)+" frequency-set -g performance", "CPU %d has the governor %q: its speed changes while packets wait", l, g)}
		}
	}
	return nil
}

// irqbalance complains where irqbalance runs and may move interrupts onto CPUs of workers. The daemon leaves
// out the CPUs of its own setting; without a setting, isolated CPUs and those without a tick.
func irqbalance(h *host, c *conf.Config) []Finding {
	running := h.processes("irqbalance")
	if running == nil {
		return nil
	}
	set := h.text("etc/default/irqbalance")
	banned := cpuList(assigned(set, "IRQBALANCE_BANNED_CPULIST"))
	if len(banned) == 0 && assigned(set, "IRQBALANCE_BANNED_CPUS") == "" {
		banned = cpuList(h.text("sys/devices/system/cpu/isolated") + "," + h.text("sys/devices/system/cpu/nohz_full"))
	}
	open := slices.ContainsFunc(c.DPDK.Lcores, func(l int) bool { return !banned[l] })
	if !open {
		return []Finding{ok("irqbalance runs, and leaves the workers' CPUs out")}
	}
	for _, l := range c.DPDK.Lcores {
		banned[l] = true
	}
	return []Finding{slow(fmt.Sprintf("echo 'IRQBALANCE_BANNED_CPULIST=%s' >> /etc/default/irqbalance && systemctl restart irqbalance", list(slices.Sorted(maps.Keys(banned)))),
		"irqbalance runs (pid %s) and may put interrupts on the workers' CPUs", running[0])}
}

// assigned is the value that a file of shell assignments gives a variable last.
func assigned(text, name string) (value string) {
	for line := range strings.Lines(text) {
		if v, found := strings.CutPrefix(strings.TrimSpace(line), name+"="); found {
			value = strings.Trim(v, `"'`)
		}
	}
	return value
}

// clocksource looks at whether reading the time needs a system call.
func clocksource(h *host, _ *conf.Config) []Finding {
	const dir = "sys/devices/system/clocksource/clocksource0"
	fast := []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page"}
	now := h.text(dir, "current_clocksource")
	if now == "" || slices.Contains(fast, now) {
		return nil
	}
	for _, s := range strings.Fields(h.text(dir, "available_clocksource")) {
		if slices.Contains(fast, s) {
			return []Finding{slow("echo "+s+" > /"+dir+"/current_clocksource", "the clock source is %s: every burst asks the kernel for the time", now)}
		}
	}
	return []Finding{slow(byHand("nothing to set: the kernel offers no other, as it found the TSC unstable, or this machine has none; dmesg says which"), "the clock source is %s: every burst asks the kernel for the time", now)}
}

// instructions looks at whether the processor has what the fast path uses.
func instructions(h *host, _ *conf.Config) []Finding {
	for _, line := range strings.Split(h.text("proc/cpuinfo"), "\n") {
		if flags, found := strings.CutPrefix(line, "flags"); found {
			has := " " + flags + " "
			if !strings.Contains(has, " avx2 ") || !strings.Contains(has, " bmi2 ") {
				return []Finding{slow("", "the processor lacks AVX2 or BMI2: packets take more instructions")}
			}
			return []Finding{ok("the processor has AVX2 and BMI2")}
		}
	}
	return nil
}
