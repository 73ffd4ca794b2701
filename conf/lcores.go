// lcores: reads and writes dpdk.lcores ("1-4,6"), chooses its default, checks whether those
// CPUs may be used.

package conf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"intsink/conf/schema"
)

// lcores is a list of CPUs: "1-4,6", a number, or a list of both.
func lcores(p *[]int) schema.Value { return &lcoresValue{p} }

type lcoresValue struct{ p *[]int }

func (v *lcoresValue) Key() any { return v.p }

func (v *lcoresValue) Write() (string, bool) {
	return schema.Quote(lcoresText(*v.p)), len(*v.p) > 0
}

// lcoresText is the shortest text that keeps the order.
func lcoresText(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, strconv.Itoa(list[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

func (v *lcoresValue) Read(x *schema.Expr) bool {
	const accepted = `CPU numbers such as "1-4" or "1,3,5"`
	elems, ok := x.Elements(accepted, true)
	if !ok {
		return false
	}
	var list []int
	for _, e := range elems {
		s, good := e.TextOrNumber(accepted)
		if !good {
			return false
		}
		for part := range strings.SplitSeq(s, ",") {
			first, last, good := cpuRange(part)
			if !good {
				return e.Fail("must be %s, each from 0 to %d", accepted, maxCPU)
			}
			for cpu := first; cpu <= last; cpu++ {
				if slices.Contains(list, cpu) {
					return e.Fail("lcore %d stands there twice; every worker needs one of its own", cpu)
				}
				list = append(list, cpu)
			}
		}
	}
	if len(list) == 0 {
		return x.Fail("must name at least one CPU: %s", accepted)
	}
	*v.p = list
	return true
}

// maxCPU is the highest CPU number that is taken for one.
const maxCPU = 1023

func cpuRange(s string) (first, last int, ok bool) {
	a, b, found := strings.Cut(s, "-")
	if !found {
		b = a
	}
	first, err1 := strconv.Atoi(strings.TrimSpace(a))
	last, err2 := strconv.Atoi(strings.TrimSpace(b))
	return first, last, err1 == nil && err2 == nil && first >= 0 && first <= last && last <= maxCPU
}

// defaultLcores is one worker, on the last CPU that the process may run on:
// interrupts and other programs are found on the first.
func (d checker) defaultLcores(c *Config, m machine) {
	if len(c.DPDK.Lcores) == 0 && len(m.cpus) > 0 {
		c.DPDK.Lcores = []int{m.cpus[len(m.cpus)-1]}
	}
}

// checkLcores checks that the CPUs exist, that this process may use them, and that each worker
// has a hw_id. What it refuses counts as unread: no other check reckons with workers that cannot be.
func (d checker) checkLcores(c *Config, m machine) {
	var bad []int
	for _, cpu := range c.DPDK.Lcores {
		if !slices.Contains(m.cpus, cpu) {
			bad = append(bad, cpu)
		}
	}
	at := []any{&c.DPDK.Lcores, &c.DPDK}
	if len(bad) > 0 {
		severity := schema.Error
		if m.elsewhere {
			severity = schema.Warning
		}
		d.ReportAt(severity, at, "dpdk: lcores: this process cannot run on CPU %s; available: %s", lcoresText(bad), lcoresText(m.cpus))
		if severity == schema.Error {
			d.Refuse(&c.DPDK.Lcores)
			return
		}
	}
	if n, free := len(c.DPDK.Lcores), 64-int(c.Node.HwIDBase); n > free {
		d.ErrorAt(append(at, &c.Node.HwIDBase), "dpdk: %d workers, but hw_id has 6 bits: at most %d workers with node.hw_id_base = %d", n, free, c.Node.HwIDBase)
		d.Refuse(&c.DPDK.Lcores)
		return
	}
}

// allowedCPUs are those that the kernel lets this process run on. They are read
// once, since DPDK pins threads when it starts, and a reload happens after that.
var allowedCPUs = sync.OnceValue(func() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	var cpus []int
	for cpu := range maxCPU + 1 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
})
