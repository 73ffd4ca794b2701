package collect

import (
	"encoding/binary"
	"fmt"
	"net"
	"testing"
	"time"
)

// TestFlows: a block ipfix has the flows of reports sent to the collector that it names.
func TestFlows(t *testing.T) {
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := launch(t, configure(t, t.TempDir(), fmt.Sprintf("ipfix \"x\" { address = %q }\n", l.LocalAddr())))
	p.send(0, 3)
	m := make([]byte, 2000)
	l.SetReadDeadline(time.Now().Add(time.Minute))
	n, _, err := l.ReadFrom(m)
	if err != nil {
		t.Fatal(err)
	}
	if binary.BigEndian.Uint16(m) != 10 || int(binary.BigEndian.Uint16(m[2:])) != n || binary.BigEndian.Uint32(m[8:]) != 0 {
		t.Errorf("message %x", m[:n])
	}
	p.wait("all is delivered", func() bool { return p.metric(`intcollect_output_delivered_records_total{output="ipfix x"}`) >= 3 })
}
