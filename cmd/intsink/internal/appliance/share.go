// dpdk.distribute = "software": the worker that receives from each port, the number of queues,
// and how rings are emptied at the end.

package appliance

import (
	"log/slog"
	"strings"
	"time"

	"intsink/conf"
	"intsink/dpdk/ethdev"
	"intsink/engine/distribute"
)

// receivers are the queues of a kernel interface that receive: one where the workers hand
// packets to each other, else one for each worker.
func receivers(c *conf.Config) int {
	if c.DPDK.InSoftware() {
		return 1
	}
	return len(c.DPDK.Lcores)
}

// queuesOf are the numbers of rx and tx queues that a port of DPDK is opened with. With
// distribute = "software" one rx queue is enough, except for drivers that cannot hash: their peer
// chooses the queue that it sends by. A client of net_memif has one pair: a server with fewer
// than the client asks for would not answer.
func queuesOf(c *conf.Config, p *conf.Port, info *ethdev.Info) (rx, tx int) {
	workers := len(c.DPDK.Lcores)
	switch {
	case !c.DPDK.InSoftware():
		return workers, workers
	case info.Driver == "net_memif" && !strings.Contains(p.Device, "role=server") && !strings.Contains(p.Device, "role=master"):
		return 1, 1
	}
	rx, tx = 1, max(1, min(workers, int(info.MaxTxQueues)))
	if info.RSSOffloads == 0 {
		rx = max(1, min(workers, int(info.MaxRxQueues)))
	}
	return rx, tx
}

// share makes all workers share every port. Ports with INT are given to workers from the first
// one on, other ports from the last one on: of two workers the first receives from the network,
// the second from the hosts.
func (a *Appliance) share(c *conf.Config) {
	workers := len(c.DPDK.Lcores)
	owners, n := map[string]int{}, 0 // of ports that INT comes by
	var sharers []int
	withINT := func(port string) {
		owners[port] = n % workers
		if n < workers {
			sharers = append(sharers, n)
		}
		n++
	}
	for _, l := range c.Links {
		withINT(l.Network)
	}
	for _, t := range c.Taps {
		withINT(t.Port)
	}
	others := 0
	for i, p := range a.ports {
		config := distribute.Config{Workers: workers, Room: int(c.Ports[i].RxDesc), Pool: a.pool, Prefetch: a.pool.Prefetch}
		if owner, ok := owners[p.name]; ok {
			config.Owner, config.Sharers = owner, sharers
		} else {
			config.Owner = workers - 1 - others%workers
			others++
		}
		rx, tx := p.device.queues()
		for q := range rx {
			config.Rx = append(config.Rx, p.device.queue(q))
		}
		for q := range tx {
			config.Tx = append(config.Tx, p.device.queue(q))
		}
		p.shared = distribute.New(config)
	}
}

// drainPatience is how long packets in rings may take to leave when the sink stops.
const drainPatience = 200 * time.Millisecond

// drainRings receives no more and waits until what is in the rings between workers has left.
func (a *Appliance) drainRings() {
	if len(a.ports) == 0 || a.ports[0].shared == nil || len(a.workers) == 0 || a.workers[0].Beat() == 0 {
		return
	}
	for _, p := range a.ports {
		if p.shared != nil {
			p.shared.Drain()
		}
	}
	empty := 0
	for end := time.Now().Add(drainPatience); empty < 5 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		if empty++; !a.ringsEmpty() { // for a while: between two rings, packets are in neither
			empty = 0
		}
	}
}

func (a *Appliance) ringsEmpty() bool {
	for _, p := range a.ports {
		if p.shared != nil && !p.shared.Empty() {
			return false
		}
	}
	return true
}

// freeRings frees what did not leave: packets that a port did not take are dropped, and
// counted so; those that no worker has seen were never received.
func (a *Appliance) freeRings() {
	for _, p := range a.ports {
		if p.shared == nil {
			continue
		}
		unseen := p.shared.Free(func(worker, n int) {
			a.workers[worker].Unsent(p.shared.Queue(worker), n)
			slog.Warn("the port did not take what workers had handed over", "port", p.name, "packets", n)
		})
		if unseen > 0 {
			slog.Warn("received, but no worker had looked at them: freed", "port", p.name, "packets", unseen)
		}
	}
}
