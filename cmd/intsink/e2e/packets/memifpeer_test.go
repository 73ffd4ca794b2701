package packets_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/dpdk/eal"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/mempool"
	"intsink/engine/wire/intgen"
	"intsink/internal/netns"
)

// memifPeer is the other end of the two memif ports of a sink, in the process of the test.
type memifPeer struct {
	pool   *mempool.Mempool
	ports  [2]ethdev.Port // of the network, of the hosts
	queues int
	vec    *mbuf.Vec
	device func(n int, role string) string
	role   string
}

const (
	networkSide = 0
	hostSide    = 1
)

// newMemifPeer starts DPDK in this process, which netns.In made for the test, for two
// servers or clients of that many queues, which open makes. config is that of a sink between
// them.
func newMemifPeer(t *testing.T, role string, queues int, workers int) (peer *memifPeer, config string) {
	t.Helper()
	netns.Sh(t, "ip link set lo up")
	runtime.LockOSThread() // EAL pins the thread that starts it
	args, _, err := eal.Args(eal.Options{Hugepages: "off", MemoryMiB: 128})
	if err == nil {
		err = eal.Init(args)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &memifPeer{queues: queues, vec: mbuf.NewVec(), role: role}
	if p.pool, err = mempool.New("peer", 8191, 0, 2176, mempool.AnySocket); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "memif.sock")
	p.device = func(n int, role string) string {
		return fmt.Sprintf("net_memif%d,role=%s,id=%d,socket=%s,socket-abstract=no", n, role, n, socket)
	}
	other := map[string]string{"server": "client", "client": "server"}[role]
	text := strings.Replace(sinktest.KernelPorts(p.device(networkSide, other), p.device(hostSide, other)), "mbufs      = 4096", "mbufs = 16384\n  lcores = "+lcoreList(workers), 1)
	return p, strings.Replace(text, `watch "all" { sample = 100 }`, "watch \"all\" {}", 1)
}

// open starts the ports: servers before the sink, clients when it runs.
func (p *memifPeer) open(t *testing.T) {
	t.Helper()
	for n := range p.ports {
		port, err := ethdev.Attach(p.device(n, p.role))
		if err == nil {
			err = port.Configure(ethdev.Config{RxQueues: uint16(p.queues), TxQueues: uint16(p.queues), Pools: []*mempool.Mempool{p.pool}})
		}
		if err == nil {
			err = port.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		p.ports[n] = port
	}
}

// lcoreList is a list of n CPUs for dpdk.lcores.
func lcoreList(n int) string {
	list := []string{}
	for i := range n {
		list = append(list, fmt.Sprint(i))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func (p *memifPeer) waitLinks(t *testing.T) {
	t.Helper()
	if !sinktest.Eventually(func() bool { return p.ports[0].Link().Up && p.ports[1].Link().Up }) {
		t.Fatal("no link")
	}
}

// send sends the frames by one queue of a side, and waits where it is full.
func (p *memifPeer) send(t *testing.T, side, queue int, frames ...[]byte) {
	t.Helper()
	q := p.ports[side].Queue(uint16(queue))
	for _, f := range frames {
		if !p.pool.AllocBulk(p.vec, 1) {
			t.Fatal("the peer has no mbufs")
		}
		copy(p.vec[0].SetLen(len(f)), f)
		if !sinktest.Eventually(func() bool { return q.TxBurst(p.vec, 1) == 1 }) {
			t.Fatal("the peer cannot send")
		}
	}
}

// poll receives once from every queue of a side.
func (p *memifPeer) poll(side int, got func(queue int, frame []byte)) (n int) {
	for queue := range p.queues {
		k := p.ports[side].Queue(uint16(queue)).RxBurst(p.vec)
		for _, m := range p.vec[:k] {
			got(queue, m.Bytes())
		}
		p.pool.FreeBulk(p.vec, k)
		n += k
	}
	return n
}

// receive polls a side until it has n frames, or nothing comes for so long that nothing will.
func (p *memifPeer) receive(side, n int, got func(queue int, frame []byte)) (received int) {
	for last := time.Now(); received < n && time.Since(last) < sinktest.Patience; {
		if k := p.poll(side, got); k > 0 {
			received, last = received+k, time.Now()
		} else {
			time.Sleep(100 * time.Microsecond)
		}
	}
	return received
}

// numberedFrame is packet number of a flow, as its host sent it, and with INT: it stands at
// the end of the payload.
func numberedFrame(t *testing.T, s *intgen.Source, flow, number int) (plain, framed []byte) {
	t.Helper()
	f := intgen.Flow{
		Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.AddrFrom4([4]byte{10, 1, byte(flow >> 8), byte(flow)}), Proto: intgen.UDP, SrcPort: uint16(1024 + flow), DstPort: 8000,
	}
	plain = f.Frame(60, uint32(number))
	binary.BigEndian.PutUint32(plain[len(plain)-8:], uint32(flow))
	binary.BigEndian.PutUint32(plain[len(plain)-4:], uint32(number))
	plain[40], plain[41] = 0, 0 // no UDP checksum: the payload has changed
	framed, err := s.Insert(plain, []intgen.Hop{{NodeID: 101, LatencyNs: 100}, {NodeID: 102, LatencyNs: 100}})
	if err != nil {
		t.Fatal(err)
	}
	return plain, framed
}
