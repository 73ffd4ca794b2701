package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/traffic"
	"intsink/conf"
)

// Every input has its own testpmd io in front of it.
func TestPlan(t *testing.T) {
	picked, err := pickTasks("all")
	if err != nil {
		t.Fatal(err)
	}
	rows := plan(picked, []string{"io", "csum"}, "")
	var base *row
	for _, r := range rows {
		if r.base == r {
			base = r
		}
		if r.base != base || r.base.spec != r.spec || r.base.workers != r.workers || (r.mode == "") != (r.task.name != "") {
			t.Errorf("%s is compared with %s", r.title, r.base.title)
		}
	}
	if rows[1].mode != "csum" || rows[1].base != rows[0] {
		t.Errorf("the second row is %+v", rows[1])
	}
	inputs := map[string]bool{}
	for _, r := range rows {
		inputs[fmt.Sprint(r.spec, r.workers)] = true
	}
	if want := len(tasks()) + len(inputs) + 1; len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
}

func TestPick(t *testing.T) {
	for list, want := range map[string]int{"": 4, "all": len(tasks()), "reference,ipv6": 2} {
		if picked, err := pickTasks(list); err != nil || len(picked) != want {
			t.Errorf("%q: %d rows, %v", list, len(picked), err)
		}
	}
	if _, err := pickTasks("reference,nothing"); err == nil {
		t.Error("an unknown row is taken")
	}
}

// intsink takes the configuration of every row, and none has a name that another has.
func TestConfigurations(t *testing.T) {
	s := dut.Setup{Network: "net_null0", Host: "net_null1", Mbufs: 16384, Lcores: []int{0}}
	names := map[string]bool{}
	for _, row := range tasks() {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.hcl")
			if err := s.Configuration(path, row.dut, "127.0.0.1:1", "127.0.0.1:2", ""); err != nil {
				t.Fatal(err)
			}
			if c, diagnostics := conf.LoadElsewhere(path); c == nil {
				t.Errorf("%+v", diagnostics)
			}
			if names[row.name] {
				t.Error("there are two")
			}
			names[row.name] = true
		})
	}
}

func TestCompareFrames(t *testing.T) {
	tk := task{spec: traffic.Reference()}
	m, err := traffic.New(tk.spec)
	if err != nil {
		t.Fatal(err)
	}
	var originals, marked [][]byte
	for i := range checkedFrames {
		o, f, err := m.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		originals, marked = append(originals, o), append(marked, f)
	}
	if err := compareFrames(tk, originals); err != nil {
		t.Error(err)
	}
	if compareFrames(tk, marked) == nil || compareFrames(tk, originals[1:]) == nil {
		t.Error("frames with INT, or too few, pass")
	}
	tk.plain = true
	if err := compareFrames(tk, marked); err != nil {
		t.Error(err)
	}
}

func fixture() []*row {
	rows := plan([]task{{name: referenceName, title: "reference input", instructions: "reference"}}, nil, "")
	for i, mpps := range []float64{20, 10, 30} {
		rows[0].runs = append(rows[0].runs, outcome{rate: mpps * 1e6, kept: 1})
		rows[1].runs = append(rows[1].runs, outcome{rate: []float64{10, 8, 12}[i] * 1e6, kept: 0.75, cgoCalls: 0.0625,
			counted: dut.Counts{dut.Events[0]: 1000, "cache-misses": 0.5}})
	}
	return rows
}

func TestTable(t *testing.T) {
	rows := fixture()
	if got, want := headline(rows), "ratio to testpmd io, reference input: 0.50 (0.40-0.80)\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	squeezed := func(counts bool) string {
		return strings.Join(strings.Fields(table(rows, map[string]float64{"reference": 915.1}, counts)), " ")
	}
	for counts, want := range map[bool]string{
		false: "| intsink reference input | 10.00 | 100.0 | 50.0 | 0.50 (0.40-0.80) | TSC | 915 | 0.0000 | 0.062 | I/O, ",
		true:  "| intsink reference input | 10.00 | 100.0 | 50.0 | 0.50 (0.40-0.80) | TSC | 1000 | 0.0000 | 0.062 | not counted | 0.500 | not counted | I/O, ",
	} {
		tsc := "-"
		if dut.TSC() > 0 {
			tsc = fmt.Sprintf("%.0f", 100*dut.TSC())
		}
		if got, want := squeezed(counts), strings.Replace(want, "TSC", tsc, 1); !strings.Contains(got, want) {
			t.Errorf("%s\nwant in it\n%s", got, want)
		}
	}
	if got := notes(rows, &session{}); !strings.Contains(got, "not counted here") || !strings.Contains(got, "up to 25 % of a run") {
		t.Errorf("%q", got)
	}
}

// TestPrices: a report is held against the reference input of the same round, many flows against a thousand by what
// each is above testpmd on its own input.
func TestPrices(t *testing.T) {
	many := variant(func(s *traffic.Spec) { s.Flows = 7 })
	rows := plan([]task{
		{name: referenceName, spec: traffic.Reference()}, {name: "sample1", title: "a report", spec: traffic.Reference()}, {name: "flows1m", title: "many", spec: many},
	}, nil, "")
	for i, ns := range [][2]float64{{10, 20}, {30, 50}, {60, 75}, {40, 40}, {65, 90}} { // testpmd, the reference, a report, testpmd, many
		rows[i].runs = []outcome{{rate: 1e9 / ns[0]}, {rate: 1e9 / ns[1]}}
	}
	want := "a report: 1.75 (1.50-2.00) times the reference input\nmany: 12.5 ns above io more than 1000 flows (5.0 to 20.0)\n"
	if got := prices(rows); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOtherProgram: another intsink takes its turn behind the first in each row, and what is saved is that of both runs of
// one round.
func TestOtherProgram(t *testing.T) {
	rows := plan([]task{{name: referenceName, title: "reference input"}}, nil, "bin/before")
	if len(rows) != 3 || rows[1].program != "" || rows[2].program != "bin/before" || rows[2].than != rows[1] {
		t.Fatalf("%d rows: %+v", len(rows), rows)
	}
	rows[1].runs = []outcome{{rate: 25e6}, {rate: 20e6}}
	rows[2].runs = []outcome{{rate: 20e6}, {rate: 12.5e6}}
	want := "intsink reference input: 20.0 ns less than bin/before (10.0 to 30.0)\n"
	if got := turns(rows); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestIncluded: what is touched between two packets of a flow, and what the row says of it.
func TestIncluded(t *testing.T) {
	rows := map[string]*row{}
	for _, r := range plan(tasks(), nil, "") {
		if r.task.name != "" {
			rows[r.task.name] = r
		}
	}
	for name, want := range map[string]int{"reference": 1000 * (128 + 192 + 192), "strip": 1000 * (128 + 192), "flood": 1<<20*(128+192) + 1<<16*192} {
		if got := rows[name].touched(); got != want {
			t.Errorf("%s: %d bytes, want %d", name, got, want)
		}
	}
	for name, want := range map[string]string{"strip": "I/O, no flows; ", "plain": "I/O, no INT; ", "flood": "I/O, table of 65536, most flows not in it; ",
		"flows1m": "I/O, table of 2097152, all flows in it; ", "cold": "I/O, table of 65536, all flows in it; cold (memory)"} {
		if got := rows[name].included(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
