// Puts the values of a record into columns. generated.go has its fields.

package record

import "net/netip"

// put puts the record of a row.
func (c *filler) put(n int, r *Record) {
	c.putReportHead(n, r)
	switch r.Type {
	case Report:
		c.putReportPlace(n, r)
		c.putReportHeaders(n, r)
		c.putReportReasons(n, r)
		c.putReportPacket(n, r)
		c.putReportTunnel(n, r)
		c.putReportWay(n, r)
		c.putReportContents(n, r)
		c.putReportEpisodes(n, r)
	case Gap:
		c.putReportGap(n, r)
	case Stats:
		c.putReportStats(n, r)
	case EpisodeType:
		c.putReportEpisodes(n, r)
	}
}

func putAddrs(c *addrs, row int, a netip.Addr) {
	switch {
	case a.Is4():
		four, i := a.As4(), uint(row)%chunk
		be.PutUint64(c.now[i][:], 0)
		be.PutUint64(c.now[i][8:], 0xffff<<32|uint64(be.Uint32(four[:])))
		c.set |= 1 << i
	case a.IsValid():
		c.put(row, a.As16())
	}
}

// putEach sets a row to the names of the bits that are set.
func putEach(c *list, of *texts, row int, set uint32, names []string) {
	if set == 0 {
		return
	}
	c.open(row)
	for bit, name := range names {
		if set>>bit&1 != 0 {
			of.put(c.next(), name)
		}
	}
	c.close()
}
