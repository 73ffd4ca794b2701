// A sink in memory that reads one kind of INT.

package verify

import (
	"bytes"
	"fmt"
	"os"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/rules"
	"intsink/cmd/intsink/internal/simulate"
	"intsink/conf"
	"intsink/dpdk/mbuf"
)

// sink is a worker between two ports in memory.
type sink struct {
	*simulate.Worker
	port *port
}

// newSink makes one whose block int has those lines.
func newSink(lines string) (*sink, error) {
	c, diags := conf.Parse("verify.hcl", fmt.Appendf(nil, sinkConfig, lines))
	if c == nil {
		diags.WriteTo(os.Stderr)
		return nil, cli.Failed(fmt.Errorf("the configuration of verify is not valid: %s", cli.Count(diags.Count(conf.Error), "error")))
	}
	pool, err := mbuf.NewArena(2*simulate.MaxFrame/portRoom, conf.MbufRoom)
	if err != nil {
		return nil, err
	}
	reports, err := mbuf.NewArena(simulate.ReportMbufs, rules.ReportRoom(c))
	if err != nil {
		return nil, err
	}
	p := &port{pool: pool, parts: mbuf.NewVec()}
	s := &sink{port: p}
	s.Worker = simulate.New(c, simulate.Ports{Network: p, Host: hostPort{p}, Packets: pool, Reports: reports}, func(*simulate.SealedReport) {})
	return s, nil
}

// sinkConfig watches everything, as a sink does that is used.
const sinkConfig = `
node { id = 1 }
dpdk { lcores = [1] }
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "verify" {
  network = "network"
  host    = "host"
}
int {
  %s
}
flows { capacity = 1024 }
watch "all" {}
collector "none" { address = "192.0.2.10:8555" }
`

// pass is what the sink makes of a frame; nil: it was dropped.
func (s *sink) pass(frame []byte) []byte {
	s.PassTo(s.Now + 1000)
	s.port.frame, s.port.sent = frame, nil
	s.Poll()
	return s.port.sent
}

// isINT tells whether the sink takes a frame for INT, sound or not, or changes it.
func (s *sink) isINT(frame []byte) bool {
	before := s.seen()
	return !bytes.Equal(s.pass(frame), frame) || s.seen() != before
}

// seen counts the packets that were marked as INT so far.
func (s *sink) seen() (n uint64) {
	s.Publish()
	l := s.Snapshot().Links[0]
	for _, x := range l.INT {
		n += x
	}
	for _, x := range l.Malformed {
		n += x
	}
	return n
}

// port delivers one frame, and keeps what is sent. Long frames are chains of mbufs, as a NIC
// makes them.
type port struct {
	pool  *mbuf.Arena
	frame []byte // to deliver; nil: none
	sent  []byte
	parts *mbuf.Vec
}

const portRoom = conf.MbufRoom - 128

// RxBurst delivers the frame.
func (p *port) RxBurst(v *mbuf.Vec) int {
	frame := p.frame
	p.frame = nil
	n := (len(frame) + portRoom - 1) / portRoom
	if n == 0 || !p.pool.AllocBulk(p.parts, n) {
		return 0
	}
	for i, m := range p.parts[:n] {
		part := frame[:min(portRoom, len(frame))]
		frame = frame[len(part):]
		copy(m.SetLen(len(part)), part)
		if i > 0 {
			p.parts[0].Chain(m)
		}
	}
	v[0] = p.parts[0]
	return 1
}

// TxBurst keeps the frame.
func (p *port) TxBurst(v *mbuf.Vec, n int) int {
	for _, m := range v[:n] {
		p.sent = m.AppendTo(p.sent, m.PktLen())
	}
	p.pool.FreeBulk(v, n)
	return n
}

// Exchange is TxBurst, then RxBurst.
func (p *port) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return p.TxBurst(tx, n), p.RxBurst(rx)
}

// hostPort is a port that nothing arrives on.
type hostPort struct{ *port }

func (hostPort) RxBurst(*mbuf.Vec) int { return 0 }

func (p hostPort) Exchange(tx *mbuf.Vec, n int, _ *mbuf.Vec) (sent, received int) {
	return p.TxBurst(tx, n), 0
}
