//go:build amd64 && !purego && !race

package engine

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/intgen"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/flows"
)

// twinBed is a burst in memory that tests see, and what its twins need.
type twinBed struct {
	testing.TB
	*rand.Rand
	yard    *yard
	b       *burst
	locator *inthdr.Locator
	table   *flows.Table
	config  inthdr.Config
	base    [][]byte // packets that the locator found, last
}

func newTwinBed(t testing.TB, seed uint64, config inthdr.Config) *twinBed {
	table := flows.New(flows.Config{Capacity: 64, Seed: seed, IdleTimeout: 30e9})
	t.Cleanup(table.Close)
	return &twinBed{
		TB: t, Rand: rand.New(rand.NewPCG(seed, 1)), yard: newYard(t, 2*mbuf.MaxBurst), b: newBurst(),
		locator: inthdr.NewLocator(config), config: config, table: table,
	}
}

const twinPort = 5000

func twinConfigs() map[string]inthdr.Config {
	port := uint16(twinPort)
	return map[string]inthdr.Config{
		"port":       {UDPPort: &port, Version2: true},
		"all kinds":  {UDPPort: &port, Version2: true, Version1: true, VXLANGPE: &inthdr.VXLANGPE{Port: 4791, NextProtocol: 0x82}, Geneve: &inthdr.Geneve{Port: 6082}},
		"DSCP":       {UDPPort: &port, Version2: true, DSCP: &inthdr.DSCP{Value: 1, Mask: 1}},
		"no port":    {DSCP: &inthdr.DSCP{Value: 1, Mask: 1}, Version2: true},
		"nothing":    {Version2: true},
		"port 65535": {UDPPort: func() *uint16 { p := uint16(65535); return &p }(), Version2: true},
	}
}

// reseed begins another sequence of random numbers, with nothing found before.
func (t *twinBed) reseed(seed uint64) {
	t.Rand, t.base, t.locator = rand.New(rand.NewPCG(seed, 1)), nil, inthdr.NewLocator(t.config)
}

// odds tells whether something happens that does once in n times.
func (t *twinBed) odds(n int) bool { return t.IntN(n) == 0 }

func pick[T any](t *twinBed, of ...T) T { return of[t.IntN(len(of))] }

// frame is a packet, mostly one with INT on its UDP port.
func (t *twinBed) frame() []byte {
	f := intgen.Flow{
		Src: netip.AddrFrom4([4]byte{10, byte(t.Uint32()), 0, byte(t.Uint32())}), Dst: netip.AddrFrom4([4]byte{byte(t.Uint32()), 1, 0, byte(t.Uint32())}),
		Proto: intgen.UDP, SrcPort: uint16(t.Uint32()), DstPort: uint16(t.Uint32()), DSCP: uint8(t.IntN(64)),
	}
	if t.odds(6) {
		f.DstPort = pick[uint16](t, twinPort, packet.PortVXLAN, 4790, 4791, 6081, 6082, 0, 65535, 0x8813)
	}
	switch t.IntN(20) {
	case 0:
		f.Proto = intgen.TCP
	case 1:
		f.VLAN = 7
	case 2:
		f.Src, f.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	}
	out := f.Frame(t.IntN(pick(t, 40, 40, 1400)), t.Uint32())
	s := intgen.Source{
		UDPPort: twinPort, Bitmap: pick[uint16](t, intgen.DefaultBitmap, intgen.DefaultBitmap, 0xe000, 0xe000, 0xe000, 0xf000, 0xe100, 0xe001, 0xfc00, 0xffff, 0x8000, 0), MaxHops: 20,
		HopExceeded: t.odds(30), Discard: t.odds(30), MTUExceeded: t.odds(30),
	}
	if t.odds(20) {
		s.Type = pick[uint8](t, intgen.TypeDestination, intgen.TypeMX)
	}
	if t.odds(10) {
		s.DomainID, s.DSInstruction = pick[uint16](t, 0, 0x1234), pick[uint16](t, 0, 0x8000)
	}
	if t.odds(10) {
		return out
	}
	hops := make([]intgen.Hop, t.IntN(18))
	for i := range hops {
		hops[i] = intgen.Hop{NodeID: uint32(t.IntN(5)), Ingress: 1, Egress: uint16(t.IntN(3)), LatencyNs: uint32(t.IntN(100000))}
	}
	if marked, err := s.Insert(out, hops); err == nil {
		return marked
	}
	return out
}

// known is a packet, mostly of a kind that the locator has found before.
func (t *twinBed) known() []byte {
	if len(t.base) < 40 || t.odds(50) {
		f := t.frame()
		t.find(f)
		t.base = append(t.base, f)
	}
	if t.odds(100) {
		t.base = t.base[1:]
	}
	return slices.Clone(t.base[t.IntN(len(t.base))])
}

func (t *twinBed) find(f []byte) {
	var l packet.Layers
	var i inthdr.Info
	var o inthdr.Outers
	if packet.Parse(f, len(f), &l) == packet.OK {
		t.locator.Find(f, &l, &i, &o)
	}
}

// spoil changes a packet that may be without INT.
func (t *twinBed) spoil(f []byte) {
	switch t.IntN(8) {
	case 0, 1:
		f[t.IntN(min(len(f), 62))] ^= 1 << t.IntN(8)
	case 2:
		f[t.IntN(min(len(f), 62))] = byte(t.Uint32())
	case 3: // both lengths
		n := uint16(t.IntN(80) - 40)
		binary.BigEndian.PutUint16(f[16:], binary.BigEndian.Uint16(f[16:])+n)
		binary.BigEndian.PutUint16(f[38:], binary.BigEndian.Uint16(f[38:])+n)
	case 4:
		if len(f) >= 58 {
			binary.BigEndian.PutUint16(f[pick(t, 16, 36, 38, 44, 54, 56):], uint16(t.Uint32()))
		}
	}
}

// begin empties the burst, all of it but what it owns.
func (t *twinBed) begin(n int) *burst {
	b := t.b
	*b = burst{vec: b.vec, tx: b.tx, drop: b.drop, n: n, now: t.Int64()}
	clear(b.vec[:])
	for i := range b.places { // left there by an earlier burst
		b.places[i], b.deferred[i] = 0xff, 0xff
	}
	return b
}

// recallTwins compares the twins over the burst as it is.
func (t *twinBed) recallTwins() (stops []int) {
	b := t.b
	q := &matchState{cache: t.locator.HeaderCache(), table: t.table, index: t.table.Index()}
	s := stateOf(t.yard, b)
	addPart(s, "state", q)
	addPart(s, "memory", q.cache)
	return s.twins(t, func() int { return b.n },
		func(from int) int { return matchHeaders(q, b, from) },
		func(from int) int { return matchHeadersGo(q, b, from) },
		func(i int) { // as parseOne does
			if b.info[i].Reason&1 != 0 {
				b.places[b.nINT], b.header[b.nINT], b.completed = uint8(i), &b.info[i], b.completed|1<<b.nINT
				b.nINT++
			}
		})
}

func TestRecallTwins(t *testing.T) {
	for name, config := range twinConfigs() {
		t.Run(name, func(t *testing.T) {
			x, recalled := newTwinBed(t, 3, config), 0
			for range 400 {
				b := x.begin(x.IntN(mbuf.MaxBurst + 1))
				for i := range b.n {
					f := x.known()
					if x.odds(3) {
						x.spoil(f)
					}
					segment := len(f)
					if x.odds(6) {
						segment = x.IntN(len(f) + 1)
					}
					b.vec[i] = x.yard.put(i, f, segment, mbuf.MaxBurst+i)
					if pktLen := at[uint32](x.yard.page(i), atPktLen); x.odds(12) {
						*pktLen = pick[uint32](x, 0, *pktLen-1, *pktLen+1, *pktLen+100, *pktLen+1<<16, packet.MaxFrame, packet.MaxFrame+1, 1<<31, 1<<32-1, x.Uint32())
					}
					b.info[i].Reason = inthdr.Reason(x.IntN(2)) // which an earlier packet left there
				}
				b.n -= x.IntN(min(b.n, 1) + 1) // another packet stands behind
				x.recallTwins()
				recalled += b.nINT
			}
			if config.UDPPort != nil && *config.UDPPort == twinPort && recalled < 4000 {
				t.Errorf("only %d packets were recalled", recalled)
			}
		})
	}
}

// burstOf puts variants of a packet through the twins, 64 at a time.
func (t *twinBed) burstOf(n int, variant func(n, i int) *mbuf.Mbuf) {
	for from := 0; from < n; from += mbuf.MaxBurst {
		b := t.begin(min(mbuf.MaxBurst, n-from))
		for i := range b.n {
			b.vec[i] = variant(from+i, i)
		}
		t.recallTwins()
	}
}

// TestRecallTwinsBitByBit: every bit of the headers turned, every length of a first
// segment, and every length that IP, UDP and the mbuf may claim near the right one.
func TestRecallTwinsBitByBit(t *testing.T) {
	for name, config := range twinConfigs() {
		t.Run(name, func(t *testing.T) {
			x := newTwinBed(t, 4, config)
			f := withINT(t, plain(1), nil)
			x.find(f)
			x.burstOf(62*8, func(n, i int) *mbuf.Mbuf {
				g := slices.Clone(f)
				g[n/8] ^= 1 << (n % 8)
				return x.yard.put(i, g, len(g), 0)
			})
			x.burstOf(len(f)+1, func(n, i int) *mbuf.Mbuf { return x.yard.put(i, f, n, mbuf.MaxBurst+i) })
			x.burstOf(2*len(f), func(n, i int) *mbuf.Mbuf {
				m := x.yard.put(i, f, len(f), 0)
				*at[uint32](x.yard.page(i), atPktLen) = uint32(n)
				return m
			})
			x.burstOf(4*len(f)+64, func(n, i int) *mbuf.Mbuf { // total, UDP length or both, so long, or near 65535; the mbuf longer
				g := append(slices.Clone(f), make([]byte, len(f))...)
				if n&1 == 0 {
					binary.BigEndian.PutUint16(g[16:], uint16(n/2-32))
				}
				binary.BigEndian.PutUint16(g[38:], uint16(n/2-32-20))
				return x.yard.put(i, g, len(g)-n&2*len(f)/2, mbuf.MaxBurst+i)
			})
			ports := []uint16{0, 1, twinPort, twinPort - 1, packet.PortVXLAN, 4790, 4791, 6081, 6082, 65535, 0x8813}
			x.burstOf(2*len(ports), func(n, i int) *mbuf.Mbuf {
				g := slices.Clone(f)
				binary.BigEndian.PutUint16(g[[]int{36, 44}[n&1]:], ports[n/2])
				return x.yard.put(i, g, len(g), 0)
			})
		})
	}
}

// TestRecallTwinsOfAnyLength: INT of every length takes the memo of its length.
func TestRecallTwinsOfAnyLength(t *testing.T) {
	x := newTwinBed(t, 5, twinConfigs()["port"])
	var all [][]byte
	for hops := range 80 {
		s := intgen.Source{UDPPort: twinPort, Bitmap: 0xe000, MaxHops: 100, DomainID: uint16(hops)}
		f, err := s.Insert(plain(hops), make([]intgen.Hop, hops))
		if err != nil {
			t.Fatal(err)
		}
		x.find(f)
		all = append(all, f)
	}
	x.burstOf(4*len(all), func(n, i int) *mbuf.Mbuf {
		f := slices.Clone(all[n/4])
		switch n & 3 {
		case 1:
			f[54] ^= 1 // DS Instruction
		case 2:
			f[49]++ // Remaining Hop Count
		case 3:
			f[52] ^= 1 // Domain Specific ID
		}
		return x.yard.put(i, f, len(f), 0)
	})
}
