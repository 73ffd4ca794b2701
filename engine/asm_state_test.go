//go:build amd64 && !purego && !race

package engine

import (
	"bytes"
	"fmt"
	"reflect"
	"syscall"
	"testing"
	"unsafe"

	"intsink/dpdk/mbuf"
	"intsink/engine/strip"
	"intsink/flows"
)

// yard is memory for mbufs that a test sees whole: a page each, which the segment ends
// with, and behind it one that must not be touched.
type yard struct {
	mem   []byte
	mbufs []*mbuf.Mbuf
}

const page = 4096

// Where mbuf.Layout has what a test sets.
const (
	atBufAddr = 0
	atDataOff = 1
	atPktLen  = 6
	atDataLen = 7
	atBufLen  = 8
	atSize    = 10
)

// offHeap is memory that the collector does not look at.
func offHeap(t testing.TB, n int) []byte {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(b) })
	return b
}

func newYard(t testing.TB, n int) *yard {
	y := &yard{mem: offHeap(t, 2*n*page)}
	head := mbuf.Layout()[atSize]
	for i := range n {
		p := y.page(i)
		if err := syscall.Mprotect(y.mem[(2*i+1)*page:][:page], syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
		// SAFETY: an mbuf and its buffer fill the page, and live as long as the test.
		*at[unsafe.Pointer](p, atBufAddr) = unsafe.Pointer(&p[head])
		*at[uint16](p, atBufLen) = uint16(page - head)
		m := (*mbuf.Mbuf)(unsafe.Pointer(&p[0]))
		m.Reset(0)
		y.mbufs = append(y.mbufs, m)
	}
	return y
}

func at[T any](p []byte, field int) *T { return (*T)(unsafe.Pointer(&p[mbuf.Layout()[field]])) }

func (y *yard) page(i int) []byte { return y.mem[2*i*page:][:page:page] }

// put makes mbuf i a segment with the first bytes of a packet, and tail the next one
// where the packet is longer.
func (y *yard) put(i int, frame []byte, segment int, tail int) *mbuf.Mbuf {
	segment = min(segment, len(frame))
	m := y.only(i, frame[:segment])
	if segment < len(frame) {
		m.Chain(y.only(tail, frame[segment:]))
	}
	return m
}

func (y *yard) only(i int, segment []byte) *mbuf.Mbuf {
	m := y.mbufs[i]
	m.Reset(int(*at[uint16](y.page(i), atBufLen)) - len(segment))
	copy(m.SetLen(len(segment)), segment)
	return m
}

// twinState is all the memory that a twin might touch, piece by piece.
type twinState struct {
	b     *burst
	names []string
	parts [][]byte
}

func stateOf(y *yard, b *burst) *twinState {
	s := &twinState{b: b}
	addPart(s, "burst", b)
	addPart(s, "vec", b.vec)
	for i := range b.n {
		s.names, s.parts = append(s.names, fmt.Sprintf("mbuf %d", i)), append(s.parts, y.page(i))
	}
	return s
}

func addPart[T any](s *twinState, name string, p *T) {
	s.names = append(s.names, name)
	s.parts = append(s.parts, unsafe.Slice((*byte)(unsafe.Pointer(p)), int(unsafe.Sizeof(*p))))
}

func (s *twinState) save() (out [][]byte) {
	for _, p := range s.parts {
		out = append(out, bytes.Clone(p))
	}
	return out
}

func (s *twinState) restore(from [][]byte) {
	for i, p := range s.parts {
		copy(p, from[i])
	}
}

// differs says where s is not as want, "" where it is.
func (s *twinState) differs(want [][]byte) string {
	for i, p := range s.parts {
		if bytes.Equal(p, want[i]) {
			continue
		}
		n := 0
		for p[n] == want[i][n] {
			n++
		}
		name := fmt.Sprintf("%s, byte %d", s.names[i], n)
		if s.names[i] == "burst" {
			name = "burst." + fieldAt(reflect.TypeFor[burst](), n)
		}
		return fmt.Sprintf("%s: %x, in Go %x", name, p[n:min(n+16, len(p))], want[i][n:min(n+16, len(p))])
	}
	return ""
}

// fieldAt names what stands at an offset of a type.
func fieldAt(t reflect.Type, offset int) string {
	switch t.Kind() {
	case reflect.Struct:
		for i := t.NumField() - 1; i >= 0; i-- {
			if f := t.Field(i); int(f.Offset) <= offset {
				return f.Name + "." + fieldAt(f.Type, offset-int(f.Offset))
			}
		}
	case reflect.Array:
		n := int(t.Elem().Size())
		return fmt.Sprintf("[%d]%s", offset/n, fieldAt(t.Elem(), offset%n))
	}
	return fmt.Sprintf("+%d", offset)
}

// field is a field of f that package flows keeps for itself.
func field[T any](t testing.TB, f *flows.Flow, name string) *T {
	s, ok := reflect.TypeFor[flows.Flow]().FieldByName(name)
	if !ok || s.Type.Size() != unsafe.Sizeof(*new(T)) {
		t.Fatalf("flows.Flow has no %s as this test knows it", name)
	}
	return (*T)(unsafe.Add(unsafe.Pointer(f), s.Offset))
}

// twins runs both twins over a whole burst from the same state, each again behind the
// packet at which it stopped, which meanwhile is handled by stopped. They must stop at
// the same packets, and leave all the same behind.
func (s *twinState) twins(t testing.TB, n func() int, assembly, golang func(from int) (next int), stopped func(j int)) (stops []int) {
	t.Helper()
	all := func(run func(int) int) (stops []int) {
		for j := 0; ; j++ {
			if j = run(j); j >= n() {
				return append(stops, j)
			}
			stops = append(stops, j)
			stopped(j)
		}
	}
	before := s.save()
	stops = all(golang)
	want := s.save()
	s.restore(before)
	got := all(assembly)
	if !reflect.DeepEqual(got, stops) {
		t.Fatalf("stopped at %v, in Go at %v", got, stops)
	}
	if d := s.differs(want); d != "" {
		t.Fatal(d)
	}
	return stops
}

// offHeapFlows are flows that are no table's. The lower half of the first one's address
// is zero, unless others are there already.
func offHeapFlows(t testing.TB, n int) []flows.Flow {
	size := uintptr(n) * unsafe.Sizeof(flows.Flow{})
	at, _, errno := syscall.Syscall6(syscall.SYS_MMAP, 1<<40, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE, ^uintptr(0), 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	t.Cleanup(func() { syscall.Syscall(syscall.SYS_MUNMAP, at, size, 0) })
	// SAFETY: a mapping of n flows, until the test ends.
	return unsafe.Slice(*(**flows.Flow)(unsafe.Pointer(&at)), n)
}

// TestAsmLayout: what the assembly takes for granted of types without naming it.
func TestAsmLayout(t *testing.T) {
	if n := unsafe.Sizeof(asmInfo{}); n < 32 || n > 48 {
		t.Errorf("quietWide copies an Info of 32 to 48 bytes: it has %d", n)
	}
	if strip.UDPv4Len != 26+16 || templateMask&(templateMask+1) != 0 || maxFrame > 1<<16-1 {
		t.Errorf("headers of %d bytes, %d memos, frames of %d bytes", strip.UDPv4Len, templateMask+1, maxFrame)
	}
	if f, _ := reflect.TypeFor[asmHeaderCache]().FieldByName("tunnels"); f.Offset != 2 {
		t.Errorf("tunnels are not behind port, but at %d", f.Offset)
	}
	fields := map[reflect.Type]map[string]uintptr{
		reflect.TypeFor[asmInfo](): {
			"UDPv4": 1, "Common": 1, "Discard": 1, "Hops": 2, "Size": 2, "Stack": 2, "HopLen": 2, "End": 2, "Orig": 2,
			"Removed": 2, "DSCP": 1, "RemainingHops": 1, "QueueAt": 1, "TxAt": 1,
		},
		reflect.TypeFor[asmTemplate]():         {"headers": 16},
		reflect.TypeFor[asmIndex]():            {"Keys": 24, "Mask": 8, "Base": 8},
		reflect.TypeFor[asmHeaderCache]():      {"port": 2, "tunnels": 6, "portsOnly": 1},
		reflect.TypeOf((*asmMbuf)(nil)).Elem(): {"bufAddr": 8, "dataOff": 2, "dataLen": 2, "pktLen": 4},
		reflect.TypeFor[asmKey]():              {"addrs": 32, "portsProto": 8},
		reflect.TypeFor[asmHop]():              {"Node": 4, "Interfaces": 4, "Ref": 4},
		reflect.TypeFor[asmFlow](): {
			"Generation": 2, "Watch": 1, "flags": 1, "NextRefresh": 4, "PathHops": 1, "packets": 4, "bytes": 4,
			"EndRef": 4, "PathSeen": 4, "Hops": flows.MaxHops * unsafe.Sizeof(flows.Hop{}),
		},
		reflect.TypeFor[asmFastPolicy](): {
			"Flags": 1, "Mask": 1, "Absolute": 4, "Twice": 4, "End": 8, "EndTwice": 8, "SampleLeft": 4, "SampleEvery": 4,
			"WatchesFabric": 1, "Raise": 4, "Latency": 4, "Tx": 4,
		},
	}
	for in, sizes := range fields {
		for name, want := range sizes {
			if f, ok := in.FieldByName(name); !ok || f.Type.Size() != want {
				t.Errorf("%v.%s is not of %d bytes", in, name, want)
			}
		}
	}
}
