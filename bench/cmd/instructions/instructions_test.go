//go:build linux && amd64

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The test binary is what it steps through, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-child" {
		if err := runChild(os.Args[2]); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// Two counts are equal to the instruction, whatever else runs; with the race
// detector only nearly.
func TestTrace(t *testing.T) {
	var counts [2]float64
	for i := range counts {
		p, err := trace("plain", 2)
		if err != nil {
			t.Fatal(err)
		}
		counts[i] = p.perPacket(p.perFunction())
		if n := p.perFunction()["intsink/engine/fast.(*Path).Receive"]; n == 0 {
			t.Error("the fast path was not executed")
		}
	}
	apart := math.Abs(counts[0] - counts[1])
	if !raced && apart != 0 || apart > 50 || counts[0] < 20 || counts[0] > 5000 {
		t.Errorf("%v instructions per packet", counts)
	}
}

// The other rows come to their first marker: frames are stripped, reports built.
func TestScenes(t *testing.T) {
	all := slices.Clone(rows)
	for _, c := range curves { // the ends of each
		for _, n := range []int{c.points[0], c.points[len(c.points)-1]} {
			r, ok := pointNamed(fmt.Sprintf("%s:%d", c.name, n))
			if !ok {
				t.Fatalf("no point %s:%d", c.name, n)
			}
			all = append(all, r)
		}
	}
	for i := range all {
		s, err := newScene(&all[i])
		if err == nil {
			err = s.check()
		}
		if err != nil {
			t.Errorf("%s: %v", all[i].name, err)
		}
	}
}

func TestCompare(t *testing.T) {
	f := file{Levels: map[string]map[string]float64{"v3": {"a": 1000, "b": 500}}}
	for _, c := range []struct {
		a, b float64
		err  string // part of it
	}{
		{1000, 500, ""}, {1049, 400, ""}, {1050, 500, "a: 1050.0 instructions per packet, 1000.0 committed: +5.0 %, the limit is 5 %"},
		{1000, 600, "b: 600.0"},
	} {
		err := f.compare("v3", map[string]float64{"a": c.a, "b": c.b}, 5)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := f.compare("v1", map[string]float64{"a": 1}, 5); err == nil {
		t.Error("a level without counts passes")
	}
}

func TestCheckAgainst(t *testing.T) {
	rows := []row{{name: "a", against: "b"}, {name: "b"}}
	for _, c := range []struct {
		name   string
		counts map[string]float64
		err    string
	}{
		{"cheaper", map[string]float64{"a": 90, "b": 100}, ""},
		{"as much as allowed", map[string]float64{"a": 100 * hostileMost, "b": 100}, ""},
		{"too dear", map[string]float64{"a": 121, "b": 100}, "a: 121.0 instructions per packet, 1.21 times b: the limit is 1.1 times"},
		{"the other was not counted", map[string]float64{"a": 121}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := checkAgainst(rows, c.counts); (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("%v, want %q", err, c.err)
			}
		})
	}
}

func TestUpdateKeepsOtherRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.json")
	if err := (file{}).update(path, "v3", map[string]float64{"a": 10.04, "b": 2}); err != nil {
		t.Fatal(err)
	}
	f, err := readFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.update(path, "v3", map[string]float64{"a": 11}); err != nil {
		t.Fatal(err)
	}
	if f, err = readFile(path); err != nil || f.Levels["v3"]["a"] != 11 || f.Levels["v3"]["b"] != 2 || f.Go == "" {
		t.Errorf("%+v, %v", f, err)
	}
}
