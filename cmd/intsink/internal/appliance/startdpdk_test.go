package appliance

import (
	"slices"
	"strconv"
	"testing"

	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
)

// Without hugepages an mbuf of 2,432 bytes takes a page of 4 KiB for itself: what
// EAL is given must be enough for all of them.
func TestMemoryWithoutHugepages(t *testing.T) {
	c := &conf.Config{}
	c.DPDK.Hugepages, c.DPDK.Mbufs, c.DPDK.Lcores = "off", 65536, []int{0}
	c.Report.Coalesce.MaxBytes, c.DPDK.MbufSize = 1400, conf.DefaultMbufSize
	args, _, err := ealArgs(c)
	if err != nil {
		t.Fatal(err)
	}
	mib, err := strconv.Atoi(args[slices.Index(args, "-m")+1])
	if want := 65536*4/1024 + 4095*2/1024; err != nil || mib < want || mib > want+2*64 {
		t.Errorf("-m %d, want %d and some", mib, want)
	}
	if huge := rules.PoolMiB(c, rules.HugePage); huge >= mib || huge < (65536*2432+4095*1848)>>20 {
		t.Errorf("%d MiB in hugepages", huge)
	}
}

// TestMbufOverhead: EAL gets memory for all that an mbuf has besides its room.
func TestMbufOverhead(t *testing.T) {
	var d conf.DPDK
	if header := d.MbufBytes() - d.MbufRoom(); header > 256 {
		t.Errorf("an mbuf has %d bytes besides its room, EAL gets memory for %d", header, 256)
	}
}
