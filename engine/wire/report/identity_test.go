package report

import (
	"bytes"
	"testing"
)

// TestIdentity: who sent a packet stands in front of its reports, with the whole sequence number, and only in
// packets of 2.0 that have room for it and nothing yet.
func TestIdentity(t *testing.T) {
	var p Packet
	r := Individual{RepType: InnerOnly, InType: IPv4, Inner: bytes.Repeat([]byte{7}, 40)}
	p.Open(make([]byte, 200))
	p.Identify(0x0102030405060708, 99)
	if p.Len() != GroupHeaderLen+IdentityReportLen || p.Reports() != 0 || !p.Append(&r) || p.Reports() != 1 {
		t.Fatalf("%d bytes, %d reports", p.Len(), p.Reports())
	}
	n := p.Len()
	if p.Identify(1, 1); p.Len() != n {
		t.Error("an Identity behind a report")
	}
	b := p.Seal(GroupHeader{Sequence: 0xfffffffe, Rounds: 5, NodeID: 3})
	id, ok := ReadIdentity(b[GroupHeaderLen:])
	if want := (Identity{0x0102030405060708, 99, 5<<32 | 0xfffffffe}); !ok || id != want {
		t.Errorf("%+v, %v; want %+v", id, ok, want)
	}
	for n := range IdentityReportLen {
		if _, ok := ReadIdentity(b[GroupHeaderLen : GroupHeaderLen+n]); ok {
			t.Errorf("read from %d bytes", n)
		}
	}
	p.Open(make([]byte, GroupHeaderLen+IdentityReportLen-1))
	if p.Identify(1, 1); p.Len() != GroupHeaderLen {
		t.Error("an Identity without room")
	}
	for _, f := range []Format{Format10, Format05} {
		p.OpenAs(f, make([]byte, 200))
		before := p.Len()
		if p.Identify(1, 1); p.Len() != before {
			t.Errorf("an Identity in format %v", f)
		}
	}
	p.Open(make([]byte, 200))
	p.Append(&r)
	if b := p.Seal(GroupHeader{}); len(b) != GroupHeaderLen+4+40 {
		t.Errorf("a packet has an Identity of the one before: %x", b)
	}
}
