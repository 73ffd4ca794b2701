package rules

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"intsink/conf"
	"intsink/engine/event"
)

// TestEventsHaveOneName: package conf knows the events of package event, by the same names, and
// each that a watch asks for is in its policy. path_switch is asked for as path_change.
func TestEventsHaveOneName(t *testing.T) {
	known := map[string]bool{}
	for _, name := range conf.EventNames() {
		known[name] = true
		e, ok := event.Named(name)
		if !ok {
			t.Errorf("watch.events knows %q, package event does not", name)
			continue
		}
		if p := policyOf(&conf.Watch{Events: []string{name}}, &conf.Events{}); p.Events != e.Set() {
			t.Errorf("a watch with the event %q has the set %b, want %b", name, p.Events, e.Set())
		}
	}
	for e := range event.NumEvents {
		if name := event.Event(e).String(); !known[name] && event.Event(e) != event.PathSwitch {
			t.Errorf("package event knows %q, watch.events does not (conf/events.go)", name)
		}
	}
}

// others are values that attributes of these types do not have by default.
var others = map[reflect.Type]any{
	reflect.TypeFor[conf.Layer]():     conf.OuterLayer,
	reflect.TypeFor[conf.SampleBy]():  conf.SampleFlows,
	reflect.TypeFor[conf.ECMP]():      conf.ReportECMP,
	reflect.TypeFor[conf.Clock]():     conf.PTPClock,
	reflect.TypeFor[netip.Prefix]():   netip.MustParsePrefix("192.0.2.0/24"),
	reflect.TypeFor[conf.PortRange](): conf.PortRange{First: 1, Last: 2},
	reflect.TypeFor[conf.VNIRange]():  conf.VNIRange{First: 1, Last: 2},
	reflect.TypeFor[conf.NodeRange](): conf.NodeRange{First: 1, Last: 2},

	reflect.TypeFor[conf.TCPOptions]():      conf.INTBeforeOptions,
	reflect.TypeFor[conf.INT1Dialect]():     conf.GEANTINT1,
	reflect.TypeFor[conf.ShimLength]():      conf.ShimInclusive,
	reflect.TypeFor[conf.ChecksumPolicy]():  conf.KeepChecksum,
	reflect.TypeFor[conf.MalformedPolicy](): conf.DropMalformed,
	reflect.TypeFor[conf.LeakPolicy]():      conf.StripLeaks,
	reflect.TypeFor[conf.MarkPolicy]():      conf.DropMarks,
	reflect.TypeFor[conf.FragmentPolicy]():  conf.StripFragments,
	reflect.TypeFor[conf.LayerPolicy]():     conf.Outermost,
	reflect.TypeFor[conf.Scope]():           conf.SourceOnly,
	reflect.TypeFor[conf.Role]():            conf.SequenceRole,
	reflect.TypeFor[conf.TimestampEpoch]():  conf.NoEpoch,
	reflect.TypeFor[conf.CopyPolicy]():      conf.StripCopies,
	reflect.TypeFor[conf.IOAMClock]():       conf.NTPClock,
	reflect.TypeFor[conf.IFAField]():        conf.IFAField{Name: "device_id", Bits: 32},
}

// named are values of attributes that are names.
var named = map[string]any{
	"Watch.Name": "other", "Watch.Events": []string{"loss"}, "Watch.Collectors": []string{"six"},
	"INT.Versions": []string{"1"}, "INT.Types": []string{"mx"}, "Watch.Match.Link": []string{"edge"}, "Watch.Match.Port": []string{"host"},
	"INT.Formats.IFA.Hops.Name": "other", "INT.Formats.IOAM.FlowSequence": true,
}

// without are attributes without an effect of their own: profile sets the others while a file
// is read; clocks are of end_to_end only; names of domains, instructions, models and units are
// for people, who read them in messages and tables.
var without = map[string]bool{
	"Events.Profile":          true,
	"Events.HopLatency.Clock": true, "Events.HopLatency.ClockOffset": true,
	"Events.LinkLatency.Clock": true, "Events.LinkLatency.ClockOffset": true,
	"INT.Domains.Name": true, "INT.Domains.Instructions.Name": true, "NodeModels.Name": true, "NodeModels.QueueUnit.Name": true, "NodeModels.BufferUnit.Name": true,
}

// eachAttribute gives every attribute in v another value, one after the other, and calls changed
// each time.
func eachAttribute(t *testing.T, v reflect.Value, path string, changed func(path string)) {
	_, isWord := others[v.Type()]
	isBlocks := v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct && others[v.Type().Elem()] == nil
	switch {
	case isBlocks:
		for i := range v.Len() {
			eachAttribute(t, v.Index(i), path, changed)
		}
	case v.Kind() == reflect.Pointer:
		eachAttribute(t, v.Elem(), path, changed)
	case v.Kind() == reflect.Struct && !isWord:
		for i := range v.NumField() {
			eachAttribute(t, v.Field(i), path+"."+v.Type().Field(i).Name, changed)
		}
	case !without[strings.Replace(path, "Watch.Override", "Events", 1)]:
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		v.Set(another(t, v, path))
		changed(path)
		v.Set(was)
	}
}

// another is a value that v does not have.
func another(t *testing.T, v reflect.Value, path string) reflect.Value {
	if x, ok := named[path]; ok {
		return reflect.ValueOf(x)
	}
	if x, ok := others[v.Type()]; ok {
		return reflect.ValueOf(x)
	}
	switch {
	case v.Kind() == reflect.Slice:
		one := reflect.MakeSlice(v.Type(), 1, 1)
		one.Index(0).Set(another(t, one.Index(0), path))
		return one
	case v.CanInt():
		return reflect.ValueOf(v.Int() + 1).Convert(v.Type())
	case v.CanUint():
		return reflect.ValueOf(v.Uint() + 1).Convert(v.Type())
	case v.CanFloat():
		return reflect.ValueOf(v.Float() + 0.5)
	}
	t.Fatalf("%s: this test knows no other value of a %s; add it to others or named", path, v.Type())
	return v
}

// TestEveryAttributeHasAnEffect: each attribute of a watch and of block events changes the rules of
// the workers. One that Of does not copy would be read, checked and forgotten.
func TestEveryAttributeHasAnEffect(t *testing.T) {
	c, d := conf.Parse("test.hcl", []byte(assembleBase))
	if c == nil {
		t.Fatal(d.Err())
	}
	w := &c.Watches[0]
	w.Match = &conf.Match{Flow: conf.AnyLayer}
	overridden := c.Events
	check := func(root any, path string) {
		before := Of(c)
		eachAttribute(t, reflect.ValueOf(root), path, func(path string) {
			t.Run(path, func(t *testing.T) {
				if reflect.DeepEqual(Of(c), before) {
					t.Errorf("the rules of the workers are the same whatever %s is", path)
				}
			})
		})
	}
	check(&c.Events, "Events")
	w.Override = &overridden
	check(w, "Watch")
}

// TestEveryAttributeOfINTHasAnEffect: each attribute of blocks int and node_model changes what the
// workers read.
func TestEveryAttributeOfINTHasAnEffect(t *testing.T) {
	text := []byte(strings.Replace(assembleBase, "int { udp_port = 5000 }", `
int {
  udp_port     = 5000
  dscp         = { value = 23, mask = 63, restore = 5 }
  probe_marker = "0x0102030405060708"
  probe_ports  = [7]
  gre_protocol = 34998
  vxlan_gpe    = {}
  geneve       = {}
  versions     = ["2"]
  types        = ["md"]
  match {
    vlan = 5
  }
  ifa {
    protocol      = [253]
    marker        = "0xaaaaaaaabbbbbbbb"
    copies        = "drop"
    max_residence = "100ms"
    hop "mine" {
      lns    = 2
      fields = ["lns:4", "device_id:20", "ttl:8", "residence_time:32"]
    }
  }
  ioam {
    namespace = 123
  }
  domain "d" {
    id = 7
    instruction "i" {
      bit    = 0
      length = 4
    }
  }
}
node_model "leaf" {
  nodes      = [101]
  queue_unit = "80 bytes"
  buffer_unit = "80 bytes"
}`, 1))
	c, d := conf.Parse("test.hcl", text)
	if c == nil {
		t.Fatal(d.Err())
	}
	same, _ := conf.Parse("test.hcl", text) // the rules may refer to values in c
	before, count := Of(same), 0
	if !reflect.DeepEqual(Of(c), before) {
		t.Fatal("the same text gives other rules")
	}
	changed := func(path string) {
		count++
		t.Run(path, func(t *testing.T) {
			if reflect.DeepEqual(Of(c), before) {
				t.Errorf("the rules of the workers are the same whatever %s is", path)
			}
		})
	}
	eachAttribute(t, reflect.ValueOf(&c.INT), "INT", changed)
	eachAttribute(t, reflect.ValueOf(&c.NodeModels).Elem(), "NodeModels", changed)
	if count < 30 {
		t.Errorf("%d attributes", count)
	}
}
