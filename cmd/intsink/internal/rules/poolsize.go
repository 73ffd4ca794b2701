// PoolMiB: the memory that the mempools of a configuration take.

package rules

import "intsink/conf"

// PoolMiB is what the mempools take in pages of this size, with what DPDK
// adds to each mbuf and room for ports and rings. An mbuf that is shorter than a
// page does not cross one.
func PoolMiB(c *conf.Config, page int) int {
	pages := func(mbufs, room int) int {
		size := room + mbufOverhead
		if size > page {
			return mbufs * ((size + page - 1) / page)
		}
		perPage := page / size
		return (mbufs + perPage - 1) / perPage
	}
	packets := pages(c.DPDK.Mbufs, c.DPDK.MbufRoom())
	reports := len(c.DPDK.Lcores) * pages(conf.ReportMbufs, ReportRoom(c))
	return (packets+reports)*page>>20 + ealMiB
}

// Sizes of pages for PoolMiB.
const (
	SmallPage = 4 << 10
	HugePage  = 2 << 20
)

const (
	mbufOverhead = 256 // rte_mbuf, mempool object header, alignment
	ealMiB       = 64
)
