// mustPrefetch: tells which drivers have copied a frame already, so that it need not be
// prefetched.

package ethdev

/*
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>

// go_devargs are the arguments that the port's device was made with.
static const char *go_devargs(uint16_t port) {
	struct rte_eth_dev_info info;
	const struct rte_devargs *d;
	if (rte_eth_dev_info_get(port, &info) != 0 || info.device == NULL)
		return "";
	d = rte_dev_devargs(info.device);
	return d != NULL && d->args != NULL ? d->args : "";
}
*/
import "C"

import (
	"slices"
	"strings"
)

// copying are the drivers that copy each frame into its mbuf within rte_eth_rx_burst: the CPU that
// receives has just written the frame, so that it is in its cache. That a device is virtual does
// not tell: net_bonding, net_failsafe and net_af_xdp have NICs behind them, and frames of net_ring
// or net_virtio_user were written by another core, if at all.
var copying = []string{"net_af_packet", "net_memif", "net_pcap", "net_tap"}

// mustPrefetch reports whether received frames may be out of the cache: for every driver that
// is not known to have copied them.
func (p Port) mustPrefetch() bool {
	info, err := p.Info()
	return err != nil || prefetches(info.Driver, p.devargs())
}

func (p Port) devargs() string { return C.GoString(C.go_devargs(C.uint16_t(p.id))) }

func prefetches(driver, devargs string) bool {
	if driver == "net_memif" && strings.Contains(devargs, "zero-copy=yes") {
		return true // the other process writes into the mbufs
	}
	return !slices.Contains(copying, driver)
}
