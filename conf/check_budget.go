package conf

import (
	"fmt"
	"math"
	"time"
)

// checkBudget warns of a budget that cannot carry one report, at all or at once.
func (d checker) checkBudget(col *Collector, r *Report) {
	b := &col.Budget
	report := min(col.TagLen()+reportHeaders(col.Address.Addr())+reportBytes(r), r.Coalesce.MaxBytes)
	bits := uint64(report) * 8
	if b.Bits != 0 && b.Bits < bits {
		d.WarnAt([]any{&b.Bits, b}, "collector %q: budget: bits = %d: one report takes %d bits with its headers: less than one a second is sent",
			col.Name, b.Bits, bits)
	} else {
		d.checkBurst(col, &b.Bits, "bits", bits)
	}
	d.checkBurst(col, &b.Packets, "packets", 1)
}

// checkBurst: one report takes so much of rate.
func (d checker) checkBurst(col *Collector, rate *uint64, name string, one uint64) {
	b := &col.Budget
	if *rate == 0 || float64(*rate)*b.Burst.Seconds() >= float64(one) {
		return
	}
	hint := ""
	if all := time.Duration(math.Ceil(float64(one*Priorities)/float64(*rate)*1000)) * time.Millisecond; all <= time.Minute {
		hint = fmt.Sprintf("; burst = %q has room for one of each priority", all)
	}
	d.WarnAt([]any{&b.Burst, rate, b}, "collector %q: budget: burst = %q of %s = %d is less than one report: "+
		"they are sent one at a time, and priorities hold only once something was shed%s",
		col.Name, b.Burst, name, *rate, hint)
}
