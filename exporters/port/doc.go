// Package port sends report packets out of a DPDK port, as whole
// Ethernet/IPv4 or IPv6/UDP frames that are built in the mbuf and transmitted by
// the worker that made them, on its own tx queue: no ring, no goroutine, no
// kernel.
//
//	p := port.New(mac)                        // one per DPDK port by which reports leave
//	e := p.Exporter(port.Config{...})         // one per collector
//	s := p.Station(worker, queue, pool, true) // one per worker and port: engine's Station
//	e.Sender(worker, queue, pool)             // one per worker and collector: engine's Sender
//
// Senders and Stations belong to their worker. What workers share is the gateway's MAC address
// and the answers that give it, both atomic. Worker 0 alone asks for it, by ARP (RFC 826) or
// Neighbor Discovery (RFC 4861); its queues and those of all others listen, and answer whoever
// asks for the source address. RSS chooses the queue that an answer arrives at: on a port of a
// link, package engine shows packets that may be answers to the Station (Hear) and forwards them
// all the same; a port that carries reports only is read by Tick.
package port
