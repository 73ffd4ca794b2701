package pcapfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"testing"
)

// ngFile is a pcapng file of one section, with an interface for each resolution (0: none is said), and packets of them in turn.
func ngFile(order binary.AppendByteOrder, old bool, resolutions []byte, times []uint64) (b []byte) {
	block := func(kind uint32, body []byte) {
		n := uint32(12 + len(body))
		b = order.AppendUint32(append(order.AppendUint32(order.AppendUint32(b, kind), n), body...), n)
	}
	block(sectionHeader, append(order.AppendUint16(order.AppendUint16(order.AppendUint32(nil, 0x1a2b3c4d), 1), 0), 255, 255, 255, 255, 255, 255, 255, 255))
	for _, r := range resolutions {
		body := append(order.AppendUint16(nil, 1), 0, 0, 0, 0, 0, 0)
		if r != 0 {
			body = append(order.AppendUint16(order.AppendUint16(body, 2), 3), 'e', 't', 'h', 0) // if_name before it
			body = append(order.AppendUint16(order.AppendUint16(body, timeResolution), 1), r, 0, 0, 0)
			body = append(body, 0, 0, 0, 0)
		}
		block(interfaceDescription, body)
	}
	for i, at := range times {
		from := i % len(resolutions)
		body := order.AppendUint32(nil, uint32(from))
		kind := uint32(enhancedPacket)
		if old {
			kind, body = packetBlock, order.AppendUint16(order.AppendUint16(nil, uint16(from)), 0)
		}
		body = order.AppendUint32(order.AppendUint32(body, uint32(at>>32)), uint32(at))
		body = append(order.AppendUint32(order.AppendUint32(body, 4), 4), 1, 2, 3, byte(i))
		block(kind, body)
	}
	return b
}

// TestTimesOfAnyResolution: each packet has its time to the nanosecond, whatever its interface counts, by powers of ten or of two.
func TestTimesOfAnyResolution(t *testing.T) {
	resolutions := []byte{0, 6, 9, 3, 0x80 | 10, 0x80 | 20, 0x80 | 30, 0x80 | 32, 0x80}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, old := range []bool{false, true} {
			var times []uint64
			var want []int64
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 20 * len(resolutions) {
				unit := new(big.Int)
				switch v := resolutions[i%len(resolutions)]; {
				case v == 0:
					unit.SetUint64(1e6)
				case v&0x80 != 0:
					unit.Lsh(big.NewInt(1), uint(v&0x7f))
				default:
					unit.Exp(big.NewInt(10), big.NewInt(int64(v)), nil)
				}
				x := 1_763_776_800*unit.Uint64() + r.Uint64N(unit.Uint64())
				if i < len(resolutions) {
					x = 1_763_776_800*unit.Uint64() + unit.Uint64() - 1 // the end of a second
				}
				ns := new(big.Int).Mul(new(big.Int).SetUint64(x), big.NewInt(1e9))
				times, want = append(times, x), append(want, ns.Div(ns, unit).Int64())
			}
			b := ngFile(order, old, resolutions, times)
			for name, file := range map[string][]byte{"n.pcapng": b, "n.pcapng.gz": zipped(b)} {
				in, err := Open(write(t, name, file))
				if err != nil {
					t.Fatal(err)
				}
				for i := range want {
					p, err := in.Next()
					if err != nil || p.At != want[i] || p.Data[3] != byte(i) {
						t.Fatalf("%v, old %v, %s: packet %d at %d, want %d: %v", order, old, name, i, p.At, want[i], err)
					}
				}
				if _, err := in.Next(); err != io.EOF || !in.Drained() || name == "n.pcapng" && in.offset() != int64(len(b)) {
					t.Errorf("%v, %d of %d bytes taken, drained %v", err, in.offset(), len(b), in.Drained())
				}
				in.Close()
			}
		}
	}
}

// TestCutTimes: a file that ends anywhere gives the packets before, and no other error than its end or that it is no capture.
func TestCutTimes(t *testing.T) {
	b := ngFile(binary.LittleEndian, false, []byte{0x80 | 30}, []uint64{1 << 60, 1<<60 + 1})
	for n := range b {
		in, err := Open(write(t, fmt.Sprint(n), b[:n]))
		if err != nil {
			continue
		}
		for err == nil {
			_, err = in.Next()
		}
		in.Close()
		if err != io.EOF && n > 80 {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
}
