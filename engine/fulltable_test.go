package engine

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"intsink/engine/aside/mitigate"
	"intsink/engine/burst"
	"intsink/engine/selector"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// fullTable is a bed whose table refuses new flows, and the number of a flow that is not in it.
func fullTable(t *testing.T) (b *bed, n int) {
	b = mitigated(t, func(r *Rules) { r.Watches[0].Policy.Thresholds.NewFlowRate = 0 })
	b.remake(func(c *WorkerConfig) { c.Flows.Capacity, c.Links[0].Droppable = 16, true })
	for refused := uint64(0); refused == 0; refused = b.Snapshot().Refused {
		n++
		b.pass(withINT(t, plain(n), nil))
		b.Publish()
	}
	return b, n
}

// TestFullTable: packets of flows that find no room lose their INT, that of INT-MX, too, and are counted; nothing is
// reported of them. One that is marked and unsound is.
func TestFullTable(t *testing.T) {
	b, n := fullTable(t)
	before := b.Snapshot()
	byMX, err := (&intgen.Source{UDPPort: 5000, Bitmap: 0xd000}).Insert(plain(n+1), nil)
	if err != nil {
		t.Fatal(err)
	}
	const shim = 14 + 20 + 8
	byMX[shim] = 3<<4 | byMX[shim]&0xf // type INT-MX
	binary.BigEndian.PutUint32(byMX[shim+4:], 2<<28)
	known, _ := mitigated(t, nil).pass(byMX)
	const bursts = 20 // the first packet of INT-MX is parsed; some bursts are looked at whole
	for range bursts {
		host, reports := b.pass(withINT(t, plain(n), nil), byMX, plain(n+2), withINT(t, plain(n+3), nil))
		sameFrames(t, host, plain(n), known[0], plain(n+2), plain(n+3))
		if len(reports) != 0 {
			t.Errorf("reports %q", reports)
		}
	}
	unsound := withINT(t, plain(n), nil)
	unsound[shim+1] = 0xff // the shim's length
	host, reports := b.pass(withINT(t, plain(n+1), nil), unsound)
	sameFrames(t, host, plain(n+1), unsound)
	if len(reports) != 1 {
		t.Errorf("reports %q, want one", reports)
	}
	b.balance()
	c, was := b.Snapshot(), &before.Links[0]
	if got := c.Refused - before.Refused; got != 3*bursts+1 {
		t.Errorf("%d packets refused, want %d", got, 3*bursts+1)
	}
	if md, mx := c.Links[0].INT[inthdr.MD]-was.INT[inthdr.MD], c.Links[0].INT[inthdr.MX]-was.INT[inthdr.MX]; md != 2*bursts+1 || mx != bursts {
		t.Errorf("%d packets of INT-MD and %d of INT-MX, want %d and %d", md, mx, 2*bursts+1, bursts)
	}
	if got := c.Links[0].Direction[burst.ToHost].Forwarded - was.Direction[burst.ToHost].Forwarded; got != 4*bursts+2 {
		t.Errorf("%d forwarded, want %d", got, 4*bursts+2)
	}
}

// TestMitigationInAFullTable: a rule drops packets whose flows find no room, and shows them as they came.
func TestMitigationInAFullTable(t *testing.T) {
	b, n := fullTable(t)
	last := withINT(t, plain(n+1), nil)
	b.Mitigate(mitigate.New([]*mitigate.Rule{b.rule(selector.Match{Source: []netip.Prefix{netip.PrefixFrom(address(10, 0, byte((n+1)>>8), byte(n+1)), 32)}}, mitigate.Drop, 0)}))
	b.network.RX = append(b.network.RX, withINT(t, plain(n), nil), last, withINT(t, plain(n+2), nil))
	b.Poll()
	sameFrames(t, b.host.TX, plain(n), plain(n+2))
	b.step(2e6)
	if all := b.sealed(); len(all) != 1 || !bytes.Contains(all[0], last[:128]) {
		t.Errorf("%d report packets, want one with the packet as it came", len(all))
	}
	b.balance()
}
