// Package hostile is for tests of what somebody else sends: inputs that are mutated at random, in
// any number. They come in parts, each with a seed of its own, so that a run can go on where it
// was ended, and a part that failed can be played alone.
package hostile

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Play calls part with one seed after the other, until n inputs were played: few, or as many as
// HOSTILE=100000000 says. Part returns how many it has played. HOSTILE_FROM=7 begins with seed 7.
// With HOSTILE_FILE=path, what was played is kept there, by test, and the next run goes on.
func Play(t *testing.T, few int, part func(r *rand.Rand) int) {
	t.Helper()
	n := number(t, "HOSTILE", few)
	p := progress{Seed: number(t, "HOSTILE_FROM", 0)}
	path, name := os.Getenv("HOSTILE_FILE"), t.Name()
	if folder, err := os.Getwd(); err == nil { // that of the package
		name = filepath.Base(folder) + "." + name
	}
	all := read(t, path)
	if kept, ok := all[name]; ok {
		p = kept
	}
	for p.Played < n {
		p.Played += play(t, p.Seed, part)
		if t.Failed() {
			return
		}
		p.Seed++
		if path != "" {
			all = read(t, path) // another test may have written its own
			all[name] = p
			write(t, path, all)
		}
	}
	t.Logf("%d inputs of %d seeds", p.Played, p.Seed)
}

// play plays one part, and says of one that fails how to play it again.
func play(t *testing.T, seed int, part func(r *rand.Rand) int) int {
	defer func() {
		if t.Failed() {
			t.Logf("HOSTILE_FROM=%d plays it again", seed)
		}
	}()
	return part(rand.New(rand.NewPCG(uint64(seed), 0)))
}

// progress is how far a test has come.
type progress struct {
	Seed   int `json:"seed"`   // of the next part
	Played int `json:"played"` // inputs
}

func number(t *testing.T, name string, otherwise int) int {
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s: want a number", name, s)
	}
	return n
}

func read(t *testing.T, path string) map[string]progress {
	all := map[string]progress{}
	b, err := os.ReadFile(path)
	if path == "" || os.IsNotExist(err) {
		return all
	}
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("HOSTILE_FILE=%s: %w", path, err))
	}
	return all
}

func write(t *testing.T, path string, all map[string]progress) {
	b, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(path+".new", b, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Mutate returns a copy of b, changed in one to four ways, of at least least (1 or more) bytes and at most most.
// Where two are joined, the second is other.
func Mutate(r *rand.Rand, b, other []byte, least, most int) []byte {
	out := append(make([]byte, 0, most+64), b...)
	for range 1 + r.IntN(4) {
		out = once(r, out, other)
		if out = out[:min(len(out), most)]; len(out) < least {
			out = append(out, make([]byte, least-len(out))...)
		}
	}
	return out
}

// once changes b in one way.
func once(r *rand.Rand, b, other []byte) []byte {
	at, words := place(r, len(b)), 4*(1+r.IntN(8))
	switch r.IntN(9) {
	case 0:
		b[at] ^= 1 << r.IntN(8)
	case 1:
		b[at] = [...]byte{0, 1, 0x7f, 0x80, 0xff, byte(r.Uint32())}[r.IntN(6)]
	case 2: // lengths, ports and types have two bytes, at an even place
		if at &^= 1; at+2 <= len(b) {
			binary.BigEndian.PutUint16(b[at:], [...]uint16{0, 1, 0x7fff, 0xffff, uint16(len(b)), uint16(len(b) - at), uint16(r.Uint32())}[r.IntN(7)])
		}
	case 3:
		return b[:at+1]
	case 4:
		for range words {
			b = append(b, byte(r.Uint32()))
		}
	case 5: // a header, or a part of one, is missing
		return append(b[:at], b[min(at+words, len(b)):]...)
	case 6: // or comes twice
		again := append([]byte(nil), b[at:min(at+words, len(b))]...)
		return append(b[:at], append(again, b[at:]...)...)
	case 7:
		if at < len(other) {
			return append(b[:at], other[at:]...)
		}
	case 8:
		for i := at; i < min(at+words, len(b)); i++ {
			b[i] = byte(r.Uint32())
		}
	}
	return b
}

// place draws a byte of n: mostly one of the headers, which come first.
func place(r *rand.Rand, n int) int {
	if r.IntN(8) > 0 {
		n = min(n, 150)
	}
	return r.IntN(n)
}
