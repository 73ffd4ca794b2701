package engine

import (
	"slices"
	"testing"

	"intsink/engine/aside/mitigate"
	"intsink/engine/burst"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// passAll is in force with the next tick.
func (b *bed) passAll(pass bool) {
	b.PassAll(pass)
	b.step(tickNs)
}

// TestPassAll: packets leave as they came, with INT, sound or not, both ways; nothing is known
// of them but how many there were; then all is as before.
func TestPassAll(t *testing.T) {
	b := mitigated(t, nil)
	one := withINT(t, plain(1), nil)
	broken := slices.Clone(one)
	broken[46] = 0xff
	b.passAll(true)
	host, reports := b.pass(one, plain(2), broken)
	sameFrames(t, host, one, plain(2), broken)
	if len(reports) != 0 {
		t.Errorf("reports %q", reports)
	}
	b.host.RX = append(b.host.RX, slices.Clone(one))
	b.Poll()
	sameFrames(t, b.network.TX, one)
	b.network.TX = nil
	b.Publish()
	c := b.Snapshot().Links[0]
	if d := c.Direction; d[burst.ToHost].Received != 3 || d[burst.ToHost].Forwarded != 3 || d[burst.ToNetwork].Received != 1 || d[burst.ToNetwork].Forwarded != 1 || c.PassAll.Passed != 3 {
		t.Errorf("%+v, passed %d", d, c.PassAll.Passed)
	}
	if c.INT != (LinkCounters{}).INT || c.Malformed != (LinkCounters{}).Malformed || c.ToNetwork.Leaked != 0 || b.Snapshot().Flows != 0 {
		t.Errorf("%+v", c)
	}
	b.passAll(false)
	host, reports = b.pass(one)
	sameFrames(t, host, plain(1))
	if want := []string{"new_flow F"}; !slices.Equal(reports, want) {
		t.Errorf("reports %q, want %q", reports, want)
	}
}

// TestPassAllEndsMitigation for as long as it lasts.
func TestPassAllEndsMitigation(t *testing.T) {
	b := mitigated(t, nil)
	b.Mitigate(mitigate.New([]*mitigate.Rule{b.rule(flowOne, mitigate.Drop, 0)}))
	b.step(tickNs)
	if host, _ := b.pass(plain(1)); len(host) != 0 {
		t.Error("the rule does not drop")
	}
	b.passAll(true)
	host, _ := b.pass(plain(1))
	sameFrames(t, host, plain(1))
	b.passAll(false)
	if host, _ := b.pass(plain(1)); len(host) != 0 {
		t.Error("the rule no longer drops")
	}
	b.passAll(true)
	b.Mitigate(nil)
	b.step(tickNs)
	host, _ = b.pass(withINT(t, plain(1), nil))
	sameFrames(t, host, withINT(t, plain(1), nil))
}

// TestPassAllCountsRefusals of the port, without a report.
func TestPassAllCountsRefusals(t *testing.T) {
	b := mitigated(t, nil)
	b.pass(withINT(t, plain(1), nil))
	b.passAll(true)
	b.host.Room = 0
	if host, reports := b.pass(withINT(t, plain(1), nil)); len(host) != 0 || len(reports) > 1 {
		t.Errorf("%d frames, reports %q", len(host), reports)
	}
	b.Publish()
	if d := b.Snapshot().Links[0].Direction[burst.ToHost]; d.Dropped[burst.DropTxFull] != 1 || d.Received != 2 || d.Forwarded != 1 {
		t.Errorf("%+v", d)
	}
}

// TestSuspendedRulesOnlyStrip: while rules are suspended INT is removed, and there are no flows,
// events and reports, not even of unsound INT. Afterwards flows go on. Sequence numbers missed
// meanwhile are no loss, later ones are.
func TestSuspendedRulesOnlyStrip(t *testing.T) {
	b := explained(t, numberPackets)
	numbered := func(n ...uint32) (reports []string) {
		t.Helper()
		for _, n := range n {
			host, more := b.pass(numberedPacket(t, 1, n))
			sameFrames(t, host, plain(1))
			reports = append(reports, more...)
		}
		b.step(300e6)
		b.step(1e6)
		return append(reports, b.why()...)
	}
	expect := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: reports %q, want %q", what, got, want)
		}
	}
	rules := b.rules
	expect("before", numbered(1, 2), "new_flow F")
	b.pass(numberedPacket(t, 1, 4)) // 3 may still come
	b.Reload(rules.Suspend())
	b.step(1e6)
	expect("meanwhile", numbered(5, 9))
	unsound := withINT(t, plain(2), func(s *intgen.Source, _ []intgen.Hop) { s.MaxHops = 8 })
	unsound[14+20+8+1] = 0xff // the shim's type and length
	b.pass(withINT(t, plain(2), nil), unsound)
	b.step(2e6)
	expect("of another flow", b.why())
	b.Publish()
	if c := b.Snapshot(); c.Flows != 1 || c.Links[0].INT[inthdr.MD] == 0 {
		t.Errorf("%d flows, want the one from before; INT %v", c.Flows, c.Links[0].INT)
	}
	b.Reload(rules)
	b.step(1e6)
	expect("afterwards", numbered(20, 21))
	if c := b.Snapshot().Detector; c.Lost != 0 || c.Restarts != 0 {
		t.Errorf("lost %d, restarts %d", c.Lost, c.Restarts)
	}
	expect("a loss afterwards", numbered(23), "loss F lost 1")
	b.balance()
}

// TestIdleTimeoutByReload: flows that are silent for longer end.
func TestIdleTimeoutByReload(t *testing.T) {
	b := explained(t, nil)
	b.pass(withINT(t, plain(1), nil))
	b.step(10e9)
	b.step(4e9)
	b.Publish()
	if n := b.Snapshot().Flows; n != 1 {
		t.Fatalf("%d flows", n)
	}
	r := *b.rules
	r.IdleTimeout = 1e9
	b.Reload(&r)
	b.step(1e6)
	b.step(5e9)
	b.step(1e6)
	b.Publish()
	if n := b.Snapshot().Flows; n != 0 {
		t.Errorf("%d flows", n)
	}
	b.balance()
}
