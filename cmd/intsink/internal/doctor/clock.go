// Checks of the time of day: does something keep it right?

package doctor

import (
	"slices"

	"golang.org/x/sys/unix"

	"intsink/conf"
)

// synchronization looks at whether the kernel's clock is kept right (adjtimex(2): STA_UNSYNC),
// as chrony, systemd-timesyncd and linuxptp's phc2sys tell it.
func synchronization(h *host, c *conf.Config) []Finding {
	switch {
	case h.machine.Clock == nil || h.machine.Clock():
		return nil
	case comparesClocks(c):
		return []Finding{slow(byHand("have ptp4l and phc2sys (linuxptp) keep the clock that the sources have"),
			`nothing keeps the clock right, and end_to_end { clock = "ptp" } compares it with the clocks of sources`)}
	}
	for _, daemon := range [][2]string{{"chronyd", "chronyc sources"}, {"systemd-timesyncd", "timedatectl timesync-status"}, {"ntpd", "ntpq -p"}} {
		if running := h.processes(daemon[0]); running != nil {
			return []Finding{slow(daemon[1], "%s runs (pid %s), and has not set the clock right yet: no time server may have answered", daemon[0], running[0])}
		}
	}
	return []Finding{slow("apt-get install chrony", "nothing keeps the clock right: the times in reports drift away from those of other machines")}
}

// comparesClocks tells whether some watch compares the sink's time with the sources'.
func comparesClocks(c *conf.Config) bool {
	if c.Events.EndToEnd.Clock == conf.PTPClock {
		return true
	}
	return slices.ContainsFunc(c.Watches, func(w conf.Watch) bool { return w.Override != nil && w.Override.EndToEnd.Clock == conf.PTPClock })
}

// kernelClock tells whether the kernel believes its clock to be right.
func kernelClock() bool {
	var t unix.Timex
	_, err := unix.Adjtimex(&t)
	return err != nil || t.Status&unix.STA_UNSYNC == 0
}
