package conf

import (
	"strings"
	"testing"
)

func TestMemory(t *testing.T) {
	warns := func(src string, memory uint64, want string) {
		t.Helper()
		m := fakeMachine()
		m.memory = memory
		c, d := parse("test.hcl", []byte(base+`watch "all" {}`+"\n"+src), m)
		if got := diagText(d.Warnings); c == nil || (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %v %q, want %q", src, d.Err(), got, want)
		}
	}
	const gib = 1 << 30
	warns(`dpdk { mbufs = 67108864 }`, 64*gib, `dpdk: mbufs = 67108864: with the report pools they take 148.0 GiB, more than this machine's memory of 64.0 GiB`)
	warns(`dpdk { mbufs = 67108864 }`, 256*gib, "")
	warns(`dpdk { mbufs = 67108864 }`, 0, "")
	warns(`flows { capacity = 268435456 }`, 64*gib, `flows: capacity = 268435456: the flow tables of all workers (1) take 82.0 GiB, and pools 0.2 GiB: more than`)
	warns(``, gib/8, `dpdk: mbufs = 65536`)
	warns(``, gib, "")
}

// TestMemoryOfAContainer: the warning has both numbers, and hugepages do not count.
func TestMemoryOfAContainer(t *testing.T) {
	for _, c := range []struct {
		src   string
		limit uint64
		want  string
	}{
		{"", 0, ""},
		{"", 4 << 30, ""},
		{"", 192 << 20, "memory: pools, unless they are on hugepages, flow tables and the recorder take "},
		{"", 192 << 20, "allows 192 MiB: the kernel would end it"},
		{`dpdk { hugepages = "on" }` + "\nflows { capacity = 1024 }", 65 << 20, ""},
		{`dpdk { hugepages = "on" }` + "\nflows { capacity = 4194304 }", 64 << 20, "memory: the flow tables and the recorder take 1"},
	} {
		m := fakeMachine()
		m.memory, m.limit = 64<<30, c.limit
		_, d := parse("test.hcl", []byte(base+`watch "all" {}`+"\n"+c.src), m)
		if got := diagText(d.Warnings); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q, %d: %v %q, want %q", c.src, c.limit, d.Err(), got, c.want)
		}
	}
}

// TestMemoryOfRefusedWorkers: where lcores is wrong, check says only that, and does not warn of the memory
// that so many workers would take.
func TestMemoryOfRefusedWorkers(t *testing.T) {
	m := fakeMachine()
	m.memory = 1 << 32
	for _, lcores := range []string{"0-99", "x"} {
		_, d := parse("test.hcl", []byte(base+"watch \"all\" {}\ndpdk { lcores = \""+lcores+"\" }\n"), m)
		if len(d.Errors) != 1 || len(d.Warnings) != 0 {
			t.Errorf("%s:\n%s%s", lcores, diagText(d.Errors), diagText(d.Warnings))
		}
	}
}

func TestMemTotal(t *testing.T) {
	for src, want := range map[string]uint64{
		"MemTotal:       65842236 kB\nMemFree: 1 kB\n": 65842236 << 10, "": 0, "MemTotal: x kB\n": 0, "MemFree: 7 kB": 0,
	} {
		t.Run(src, func(t *testing.T) {
			if got := memTotal([]byte(src)); got != want {
				t.Errorf("%q: %d", src, got)
			}
		})
	}
}
