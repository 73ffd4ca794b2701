// Package ethdev binds DPDK's Ethernet devices: attach, configure, start, and
// bursts of packets, one call into C each.
//
// The control plane sets a port up, on any goroutine, one port at a time:
//
//	port, err := ethdev.Attach("net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap")
//	err = port.Configure(ethdev.Config{RxQueues: 1, TxQueues: 1, Pools: []*mempool.Mempool{pool}})
//	err = port.Start()
//	defer port.Close()
//
// A queue pair then belongs to one worker:
//
//	q, v := port.Queue(0), mbuf.NewVec()
//	n := q.RxBurst(v)       // v[:n] are the worker's
//	sent := q.TxBurst(v, n) // v[:sent] are the port's, v[sent:n] still the worker's
//
// or, where there is something to transmit on the port that is received from,
//
//	sent, n := q.Exchange(v, n, rx) // both in one call
//
// Errors name the device, what DPDK said, and what to do.
package ethdev
