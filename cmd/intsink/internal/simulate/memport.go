// MemPort and SilentPort: ports in memory, for commands that give the worker one packet at a time.

package simulate

import (
	"intsink/conf"
	"intsink/dpdk/mbuf"
)

// MemPort delivers one packet at a time from memory, and takes what is transmitted: the
// engine runs on it without DPDK. Long frames are chains of mbufs, as a NIC makes them.
type MemPort struct {
	Pool  *mbuf.Arena
	Frame []byte // to deliver next; nil: none
	Keep  bool   // TxBurst appends what is transmitted to Sent
	Sent  []byte
	parts *mbuf.Vec
}

// NewMemPort returns a port with room for two frames of MaxFrame bytes. The caller closes its Pool.
func NewMemPort() (*MemPort, error) {
	pool, err := mbuf.NewArena(2*MaxFrame/memPortRoom, conf.MbufRoom)
	return &MemPort{Pool: pool, parts: mbuf.NewVec()}, err
}

// memPortRoom is how many bytes of a frame one mbuf takes behind its headroom.
const memPortRoom = conf.MbufRoom - 128

// RxBurst delivers Frame.
func (p *MemPort) RxBurst(v *mbuf.Vec) int {
	frame := p.Frame
	p.Frame = nil
	n := (len(frame) + memPortRoom - 1) / memPortRoom
	if n == 0 || !p.Pool.AllocBulk(p.parts, n) {
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
func (p *MemPort) TxBurst(v *mbuf.Vec, n int) int {
	if p.Keep {
		for _, m := range v[:n] {
			p.Sent = m.AppendTo(p.Sent, m.PktLen())
		}
	}
	p.Pool.FreeBulk(v, n)
	return n
}

// Exchange is TxBurst, then RxBurst.
func (p *MemPort) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return p.TxBurst(tx, n), p.RxBurst(rx)
}

// SilentPort transmits as its MemPort does, and never receives.
type SilentPort struct{ *MemPort }

// RxBurst receives nothing.
func (SilentPort) RxBurst(*mbuf.Vec) int { return 0 }

// Exchange is TxBurst.
func (p SilentPort) Exchange(tx *mbuf.Vec, n int, _ *mbuf.Vec) (sent, received int) {
	return p.TxBurst(tx, n), 0
}
