// doctor on CPUs: isolation, hyperthreads, governor, irqbalance, clock source.

package doctor

import (
	"fmt"
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

// irqbalance looks for the daemon that moves interrupts onto any CPU.
func irqbalance(h *host, c *conf.Config) []Finding {
	for _, pid := range h.names("proc/[0-9]*") {
		if h.text("proc", pid, "comm") == "irqbalance" {
			return []Finding{slow(fmt.Sprintf("echo 'IRQBALANCE_BANNED_CPULIST=%s' >> /etc/default/irqbalance && systemctl restart irqbalance", list(c.DPDK.Lcores)),
				"irqbalance runs (pid %s) and may put interrupts on the workers' CPUs", pid)}
		}
	}
	return nil
}

// clocksource looks at whether reading the time needs a system call.
func clocksource(h *host, _ *conf.Config) []Finding {
	s := h.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
	switch s {
	case "", "tsc", "kvm-clock", "hyperv_clocksource_tsc_page":
		return nil
	}
	return []Finding{slow("echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource", "the clock source is %s: every burst asks the kernel for the time", s)}
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
