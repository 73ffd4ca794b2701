// Package distribute shares a port between workers in software: where the port has fewer
// queues than there are workers, or chooses a queue by the outer header of a tunnel.
//
//	            ring for each other worker
//	rx ──▶ owner ═══════════▶ worker 1 ──▶ its own tx queue
//	       (worker 0)  ═════▶ worker 2 ══ ring ══▶ owner ──▶ tx   (no queue of its own)
//
// One worker, the port's owner, receives. Of a port with INT it asks its Handler for a hash of
// each packet's flow, keeps its share, and hands the others over in bursts, through a ring
// to each worker (dpdk/ring). A flow is at one worker, and its packets in the order in which
// they came. What the hosts send is not handed over: the sink keeps nothing about
// it, and to hand a packet over costs about as much as to forward it.
//
// What a worker takes from its ring was written by another CPU: it is prefetched, a burst at a time
// (Config.Prefetch). That took the second of two workers from 43 to 26 ns a packet, where CPUs fetch
// each other's cache lines slowly from 140 to 75 ns (reference input of bench/cmd/compare).
//
// A ring that is full drops: only flows of the worker that does not keep up lose packets, as
// with the queues of a NIC. To wait would hold all flows up because of one worker, and the
// port would drop what nobody has counted by flow. Handler.Lost counts what is dropped.
//
// A worker transmits by its own queue where the port has one for it, otherwise through a
// ring to the owner. That ring is a part of the port's queue: the owner leaves packets in it
// while the port takes no more, and whoever finds it full counts the drop as of a full port.
//
// The owner makes keys and hashes by the templates of the fast path (engine/dealing.go: Match alone;
// a packet without a template is parsed). To another worker its ring is the queue that it receives
// from, and the ring of packets that wait for the owner is a part of the queue that it sends
// by: no stage knows of either. A packet on its way to another worker passes these files, from the
// repository's root:
//
//	dpdk/ethdev/queue.go (RxBurst)  engine/distribute/owner.go (receive, deal)
//	engine/dealing.go (Hash)  engine/fast/match.c  dpdk/ring/ring.go (PushBurst)
//	at the other worker: engine/distribute/queue.go (RxBurst), then as any packet
//
// Queues implement engine.Queue. A Port is made once, and each of its queues belongs to one
// worker; only rings and counters are shared.
package distribute
