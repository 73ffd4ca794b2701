// device: a port behind one interface, as a DPDK device or a kernel interface; reads the counters
// of both in one form.

package ports

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"intsink/cmd/intsink/internal/vitals"
	"intsink/dpdk/afpacket"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/iface"
	"intsink/engine/burst"
)

// device is what a port is made of.
type device interface {
	// queue is queue pair w, worker w's.
	queue(w int) Queue
	// queues is how many of them there are.
	queues() int
	mac() (net.HardwareAddr, error)
	driver() string
	counters() (vitals.PortCounters, error)
	// look asks the driver how the link is, for linkDown, impaired and linkSpeed. Only one goroutine does. Where the
	// driver does not answer, they tell what it last told.
	look()
	// linkDown says what is wrong with the link, empty where it is up.
	linkDown() string
	// impaired says what is wrong with a link that is up, empty where nothing is.
	impaired() string
	// linkSpeed is in Mbit/s; 0: unknown.
	linkSpeed() int
	// flaps counts the changes of the link that the kernel announced; 0 if the link is not the
	// kernel's.
	flaps() uint64
	// stop ends receiving and sending, and close gives everything back. The workers have ended.
	stop()
	close()
}

// Queue is a queue pair of a port.
type Queue interface {
	burst.Queue
	Depth() int // of packets that wait to be received; negative where the driver cannot tell
}

// dpdkDevice is a port of DPDK.
type dpdkDevice struct {
	ethdev.Port
	queued int // rx queues that are configured, and as many tx queues
	// The state of the kernel interface that a virtual device uses: the driver of such a device
	// always says that the link is up. nil for other devices.
	follower *iface.Follower
	unlock   func()

	mu     sync.Mutex
	opened bool // the port is there, to be told of its link

	links readings[ethdev.Link]
	link  driverLink
	stats readings[vitals.PortCounters]
}

// driverLink is the link of a port as its driver tells it. Some drivers tell a wrong state now and then
// (e1000): a change counts where two readings in a row agree.
type driverLink struct {
	read ethdev.Link // by the last look
	told atomic.Pointer[ethdev.Link]
}

// take counts a reading.
func (l *driverLink) take(now ethdev.Link) {
	if l.told.Load() == nil || now == l.read {
		l.told.Store(&now)
	}
	l.read = now
}

// now is the link as it is told; down before the first reading.
func (l *driverLink) now() ethdev.Link {
	if told := l.told.Load(); told != nil {
		return *told
	}
	return ethdev.Link{}
}

func (d *dpdkDevice) queue(w int) Queue              { return d.Queue(uint16(w)) }
func (d *dpdkDevice) queues() int                    { return d.queued }
func (d *dpdkDevice) mac() (net.HardwareAddr, error) { return d.MAC() }
func (d *dpdkDevice) linkSpeed() int                 { return d.link.now().Mbit }

func (d *dpdkDevice) driver() string {
	info, _ := d.Info()
	return info.Driver
}

// look does not count a reading that has not come. There is one at a time: some drivers (e1000) must not be asked twice at once.
func (d *dpdkDevice) look() {
	if now, err := d.links.take(func() (ethdev.Link, error) { return d.Link(), nil }); err == nil {
		d.link.take(now)
	}
}

// counters are those of the device; of one that is gone, whose registers say anything, what they last were.
func (d *dpdkDevice) counters() (vitals.PortCounters, error) {
	if d.Removed() {
		return d.stats.latest(), nil
	}
	return d.stats.take(d.readCounters)
}

func (d *dpdkDevice) readCounters() (vitals.PortCounters, error) {
	s, err := d.Stats()
	return vitals.PortCounters{
		RxPackets: s.IPackets, TxPackets: s.OPackets, RxBytes: s.IBytes, TxBytes: s.OBytes,
		RxMissed: s.IMissed, RxErrors: s.IErrors, TxErrors: s.OErrors, RxNoMbuf: s.RxNoMbuf,
	}, err
}

// settle implements removable.
func (d *dpdkDevice) settle() bool { return d.links.settled() && d.stats.settled() }

func (d *dpdkDevice) linkDown() string {
	if s := d.interfaceDown(); s != "" {
		return s
	}
	if d.Removed() {
		return "the device is to be removed, or gone: it is let go within a second or two; links of other ports go on without it"
	}
	if !d.link.now().Up {
		return "no link, says the driver"
	}
	return ""
}

// interfaceDown is linkDown as the kernel interface of the device tells; empty where it has none.
func (d *dpdkDevice) interfaceDown() string {
	if d.follower == nil {
		return ""
	}
	if s := d.follower.LinkDown(); s != "" {
		return s
	}
	if d.follower.MadeAnew() {
		return "interface " + d.follower.Name() + " was deleted and made anew, which this driver cannot follow: restart the sink, or write device = \"kernel:" + d.follower.Name() + "\""
	}
	return ""
}

// follow starts to tell the port of the state of its interface, and from then on does so at
// once at each change.
func (d *dpdkDevice) follow(name string) (err error) {
	d.follower, err = iface.Follow(name, d.tellLink)
	return err
}

// tellLink keeps the driver from losing packets on an interface that is down.
func (d *dpdkDevice) tellLink() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened {
		d.SetLinkDown(d.interfaceDown() != "")
	}
}

// open is called when the port is there.
func (d *dpdkDevice) open() {
	d.mu.Lock()
	d.opened = d.follower != nil
	d.mu.Unlock()
	d.tellLink()
	d.link.take(d.Link())
}

// impaired describes a peer of net_memif that has fewer queues than the sink; empty: there is
// none.
func (d *dpdkDevice) impaired() string {
	rx, tx, ok := d.Rings(d.queued)
	if !ok || !d.link.now().Up || rx == d.queued && tx == d.queued {
		return ""
	}
	return fmt.Sprintf("the peer sends by %d and receives by %d of %d queues: the workers of the others get no packets from here, and lose what they send here (tx_down); "+
		"give the peer %d queues in each direction, or configure fewer dpdk.lcores", rx, tx, d.queued, d.queued)
}

func (d *dpdkDevice) flaps() uint64 {
	if d.follower == nil {
		return 0
	}
	return d.follower.Changes()
}

func (d *dpdkDevice) stop() { d.Stop() }

func (d *dpdkDevice) close() {
	d.unfollow()
	d.Port.Close()
	d.unlock()
}

// unfollow ends what follow began: nobody tells the port anything any more.
func (d *dpdkDevice) unfollow() {
	if d.follower != nil {
		d.follower.Close()
	}
}

// kernelDevice is an interface of the kernel, without DPDK.
type kernelDevice struct {
	*afpacket.Port
	queued int // queue pairs
}

func (d kernelDevice) queue(w int) Queue              { return d.Queue(w) }
func (d kernelDevice) queues() int                    { return d.queued }
func (d kernelDevice) mac() (net.HardwareAddr, error) { return d.MAC(), nil }
func (d kernelDevice) driver() string                 { return "kernel" }
func (d kernelDevice) look()                          {} // netlink tells each change
func (d kernelDevice) linkDown() string               { return d.LinkDown() }
func (d kernelDevice) impaired() string               { return "" }
func (d kernelDevice) linkSpeed() int                 { return d.LinkSpeed() }
func (d kernelDevice) flaps() uint64                  { return d.LinkChanges() }
func (d kernelDevice) stop()                          {}
func (d kernelDevice) close()                         { d.Close() }

func (d kernelDevice) counters() (vitals.PortCounters, error) {
	s := d.Stats()
	uncut := make(map[string]uint64, len(s.Uncut))
	for why, n := range s.Uncut {
		uncut[afpacket.Uncut(why).String()] = n
	}
	return vitals.PortCounters{
		RxPackets: s.RxPackets, TxPackets: s.TxPackets, RxBytes: s.RxBytes, TxBytes: s.TxBytes,
		RxMissed: s.Missed, RxUncut: uncut, RxNoMbuf: s.NoMbuf, RxTruncated: s.Truncated,
	}, nil
}
