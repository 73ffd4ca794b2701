// sink: a worker between two ports in memory that is configured for one kind of INT.

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
	port *simulate.MemPort
}

// newSink makes a sink whose block int has these lines.
func newSink(lines string) (*sink, error) {
	c, diags := conf.Parse("verify.hcl", fmt.Appendf(nil, sinkConfig, lines))
	if c == nil {
		cli.Diagnose(os.Stderr, diags)
		return nil, cli.Failed(fmt.Errorf("the configuration of verify is not valid: %s", cli.Count(diags.Count(conf.Error), "error")))
	}
	p, err := simulate.NewMemPort()
	if err != nil {
		return nil, err
	}
	reports, err := mbuf.NewArena(simulate.ReportMbufs, rules.ReportRoom(c))
	if err != nil {
		return nil, err
	}
	p.Keep = true
	s := &sink{port: p}
	s.Worker = simulate.New(c, simulate.Ports{Network: p, Host: simulate.SilentPort{MemPort: p}, Packets: p.Pool, Reports: reports}, func(*simulate.SealedReport) {})
	return s, nil
}

// sinkConfig watches all flows, so that packets take the way that they take in use.
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

// pass returns the frame that the sink transmits for frame; nil: it dropped it.
func (s *sink) pass(frame []byte) []byte {
	s.PassTo(s.Now + 1000)
	s.port.Frame, s.port.Sent = frame, nil
	s.Poll()
	return s.port.Sent
}

// isINT reports whether the sink takes a frame for INT, sound or not, or changes it.
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
