// What the sink has room for and allocates: most watches and collectors, bytes of mbufs, flows
// and report buffers.

package conf

// What the sink has room for, and what it allocates at start, in bytes. Packages
// that conf does not import have the same sizes: a test of cmd/intsink compares.
const (
	MaxWatches    = 255 // a flow keeps the index of its watch in a byte
	MaxCollectors = 64  // a watch keeps its collectors in a word
	Priorities    = 7   // of reports; each leaves a share of the budget's burst to those before it

	DefaultMbufSize = 2048                  // bytes of a frame in one mbuf; longer frames are chains
	MbufRoom        = 128 + DefaultMbufSize // headroom and data of one mbuf of that size
	mbufHeader      = 64 + 128              // the pool's header and struct rte_mbuf
	MbufCache       = 256                   // mbufs a worker keeps without going to the shared pool
	Burst           = 64                    // mbufs a worker handles at once
	ReportMbufs     = 4095                  // in the report pool of a worker
	ReportRoom      = 128 + 64              // in front of a report packet: headroom for its headers, the handoff
	FlowBytes       = 320 + 8               // a flow and its share of a bucket
)

// MbufRoom is the headroom and data of one mbuf of the packet pool.
func (d *DPDK) MbufRoom() int { return MbufRoom - DefaultMbufSize + d.MbufSize }

// MbufBytes is what one mbuf takes in the packet pool.
func (d *DPDK) MbufBytes() int { return d.MbufRoom() + mbufHeader }
