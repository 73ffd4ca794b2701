// Ports in memory that deliver one packet at a time.

package plan

import (
	"intsink/cmd/intsink/internal/simulate"
	"intsink/conf"
	"intsink/dpdk/mbuf"
)

// memPort delivers one packet at a time from memory, and takes what is transmitted: the
// engine runs on it without DPDK. Long frames are chains of mbufs, as a NIC makes them.
type memPort struct {
	pool  *mbuf.Arena
	frame []byte // to deliver; nil: none
	parts *mbuf.Vec
}

// newMemPort makes a port with room for one frame of at most maxFrame bytes.
func newMemPort() (*memPort, error) {
	pool, err := mbuf.NewArena(2*simulate.MaxFrame/memPortRoom, conf.MbufRoom)
	return &memPort{pool: pool, parts: mbuf.NewVec()}, err
}

const memPortRoom = conf.MbufRoom - 128

// RxBurst delivers the frame.
func (p *memPort) RxBurst(v *mbuf.Vec) int {
	frame := p.frame
	p.frame = nil
	n := (len(frame) + memPortRoom - 1) / memPortRoom
	if n == 0 || !p.pool.AllocBulk(p.parts, n) {
		return 0
	}
	for i, m := range p.parts[:n] {
		part := frame[:min(memPortRoom, len(frame))]
		frame = frame[len(part):]
		copy(m.SetLen(len(part)), part)
		if i > 0 {
			p.parts[0].Chain(m)
		}
	}
	v[0] = p.parts[0]
	return 1
}

// TxBurst takes everything.
func (p *memPort) TxBurst(v *mbuf.Vec, n int) int {
	p.pool.FreeBulk(v, n)
	return n
}

// Exchange is TxBurst, then RxBurst.
func (p *memPort) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return p.TxBurst(tx, n), p.RxBurst(rx)
}

// hostPort is a memPort that nothing arrives on.
type hostPort struct{ *memPort }

func (hostPort) RxBurst(*mbuf.Vec) int { return 0 }

func (p hostPort) Exchange(tx *mbuf.Vec, n int, _ *mbuf.Vec) (sent, received int) {
	return p.TxBurst(tx, n), 0
}
