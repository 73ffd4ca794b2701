package rules

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"intsink/conf"
)

// TestBudgetReload: a budget changes while the appliance runs, the rest of a
// collector does not.
func TestBudgetReload(t *testing.T) {
	load := func(collector string) *conf.Config {
		c, d := conf.Parse("test.hcl", []byte(strings.Replace(assembleBase, `{ address = "192.0.2.10:8555" }`, collector, 1)))
		if c == nil {
			t.Fatal(d.Err())
		}
		return c
	}
	old := load("{\n  address = \"192.0.2.10:8555\"\n}")
	budget := load("{\n  address = \"192.0.2.10:8555\"\n  budget {\n    packets = 1000\n    bits    = 5000000\n    burst   = \"200ms\"\n  }\n}")
	more := load("{\n  address = \"192.0.2.11:8555\"\n}\nhttp { listen = \"\" }\nflows { capacity = 16 }")
	if what := NeedsRestart(old, more); what != "flows, collector, http" {
		t.Errorf("three changes need %q", what)
	}
	other := load("{\n  address = \"192.0.2.11:8555\"\n}")
	if what := NeedsRestart(old, budget); what != "" {
		t.Errorf("a budget needs a restart: %s", what)
	}
	if what := NeedsRestart(old, other); what != "collector" {
		t.Errorf("another address needs %q", what)
	}
	got := Of(budget).Collectors[0].Budget
	if got.Packets != 1000 || got.Bits != 5_000_000 || got.Burst != int64(200*time.Millisecond) || got.Headers != 42 {
		t.Errorf("%+v", got)
	}
}

// TestEveryFieldReloadsOrRestarts: a block that is new in conf.Config has to be put into
// one of the two lists.
func TestEveryFieldReloadsOrRestarts(t *testing.T) {
	listed := map[string]int{}
	for _, r := range restarting {
		listed[r.field]++
	}
	for _, name := range reloading {
		listed[name]++
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[conf.Config]()) {
		if listed[field.Name] != 1 {
			t.Errorf("conf.Config.%s stands in restarting and reloading %d times, want once", field.Name, listed[field.Name])
		}
		delete(listed, field.Name)
	}
	for name := range listed {
		t.Errorf("conf.Config has no field %s", name)
	}
}

// TestRestartingFields: a change of each is seen, by the name of its block.
func TestRestartingFields(t *testing.T) {
	for _, r := range restarting {
		t.Run(r.block, func(t *testing.T) {
			old, c := &conf.Config{}, &conf.Config{}
			v := reflect.ValueOf(c).Elem().FieldByName(r.field)
			if r.field == "Report" {
				c.Report.Coalesce.MaxBytes = 1
			} else if v.Kind() == reflect.Slice {
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			} else {
				setFirst(t, v)
			}
			if got := NeedsRestart(old, c); got != r.block {
				t.Errorf("%q", got)
			}
		})
	}
}

// setFirst changes the first field of a struct that is a number or a string.
func setFirst(t *testing.T, v reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x")
			return
		case reflect.Int, reflect.Int64:
			f.SetInt(1)
			return
		case reflect.Uint8, reflect.Uint16, reflect.Uint32:
			f.SetUint(1)
			return
		}
	}
	t.Fatalf("%v has no number and no string", v.Type())
}
