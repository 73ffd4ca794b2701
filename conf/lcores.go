// lcores: reads and writes dpdk.lcores ("1-4,6").

package conf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
