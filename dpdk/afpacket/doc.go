// Package afpacket is a port on an interface of the Linux kernel (AF_PACKET,
// packet(7)) that says what it did: no frame changes, and every frame is either
// handed on or counted.
//
//	port, err := afpacket.Open(afpacket.Config{Interface: "eth0", Queues: 2, Frames: 4096, Pool: pool})
//	q := port.Queue(0)           // one worker's; an burst.Queue
//	n := q.RxBurst(v)
//	sent := q.TxBurst(v, n)      // where sent < n, q.Refusal() says why
//	port.Close()                 // after the workers have ended
//
// Received frames come by a ring that the kernel writes and the worker reads
// (TPACKET_V2): a poll without frames is one load, no system call. TPACKET_V3
// hands over blocks, the last of them after a millisecond, which is too long for a
// port inline. Frames leave with one sendmmsg(2) a burst, which says of each
// frame whether it was taken, and go around the qdisc (PACKET_QDISC_BYPASS).
//
// What the kernel does to frames between wire and ring is undone:
//
//	VLAN tag taken out (802.1Q, 802.1ad)   put back with its TPID
//	checksum not computed yet (veth)       completed
//	frames joined (GRO) or not cut yet     cut into the segments they are made of, at any depth of tunnels
//	longer than a frame of the ring        read whole from the socket
//	longer than an mbuf                    a chain of mbufs
//
// Fragments of IP packets pass: unlike DPDK's net_af_packet, the fanout group of
// several queues does not reassemble (no PACKET_FANOUT_FLAG_DEFRAG). The queue is
// chosen by a hash of addresses and ports that is the same for both directions.
//
// Port follows its interface by netlink: link up and down, MTU, and deletion, after
// which it opens an interface of the same name again, as soon as there is one.
package afpacket
