package dut

import (
	"net"
	"sync/atomic"
)

// sink is a collector that only counts.
type sink struct {
	conn    *net.UDPConn
	packets atomic.Uint64
}

func newSink() (*sink, error) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	s := &sink{conn: conn}
	go s.read()
	return s, nil
}

func (s *sink) address() string { return s.conn.LocalAddr().String() }

// close ends read.
func (s *sink) close() { s.conn.Close() }

func (s *sink) read() {
	b := make([]byte, 65536)
	for {
		if _, _, err := s.conn.ReadFromUDPAddrPort(b); err != nil {
			return
		}
		s.packets.Add(1)
	}
}
