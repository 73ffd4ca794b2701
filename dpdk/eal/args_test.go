package eal

import (
	"slices"
	"strings"
	"testing"

	"intsink/dpdk/hugepages"
)

func TestUseHugepages(t *testing.T) {
	for _, c := range []struct {
		mode       string
		need, free int
		use        bool
		warn, err  string // part of the text
	}{
		{"off", 100, 1000, false, "", ""},
		{"auto", 100, 100, true, "", ""},
		{"", 100, 100, true, "", ""},
		{"on", 100, 100, true, "", ""},
		{"auto", 100, 99, false, "sysctl -w vm.nr_hugepages=114", ""},
		{"auto", 101, 0, false, "0 MiB of hugepages are free and about 101 MiB are needed", ""},
		{"on", 100, 99, false, "", "sysctl -w vm.nr_hugepages=114"},
		{"yes", 100, 100, false, "", `"auto", "on" or "off"`},
	} {
		use, warn, err := useHugepages(c.mode, c.need, hugepages.Pages{FreeMiB: c.free, Total2M: c.free / 2})
		if use != c.use || (warn == "") != (c.warn == "") || !strings.Contains(warn, c.warn) {
			t.Errorf("%+v: %v, %q", c, use, warn)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestArgs(t *testing.T) {
	for _, c := range []struct {
		name    string
		devices []string
		want    []string // in this order, from --no-huge on
	}{
		{"vdevs only", []string{"net_pcap0,rx_pcap=a:b.pcap", "net_af_packet0,iface=eth0"},
			[]string{"--no-huge", "--no-shconf", "-m", "64", "--no-pci", "--vdev=x"}},
		{"no device", nil, []string{"--no-huge", "--no-shconf", "-m", "64", "--no-pci", "--vdev=x"}},
		{"PCI devices", []string{"0000:3b:00.0", "net_null0", "0000:3b:00.1,arg=1"},
			[]string{"--no-huge", "--no-shconf", "-m", "64", "-a", "0000:3b:00.0", "-a", "0000:3b:00.1,arg=1", "--vdev=x"}},
	} {
		args, warnings, err := Args(Options{Hugepages: "off", MemoryMiB: 64, Devices: c.devices, Extra: []string{"--vdev=x"}})
		if err != nil || len(warnings) != 0 {
			t.Fatalf("%s: %v, %v", c.name, warnings, err)
		}
		i := slices.Index(args, "--no-huge")
		if i < 0 || !slices.Equal(args[i:], c.want) {
			t.Errorf("%s: %q, want %q", c.name, args, c.want)
		}
		if !slices.Contains(args, "--no-telemetry") || slices.Contains(args, "--in-memory") {
			t.Errorf("%s: %q", c.name, args)
		}
	}
}

// TestTelemetryArgs: DPDK's telemetry is off unless asked for, by either way.
func TestTelemetryArgs(t *testing.T) {
	for _, c := range []struct {
		o   Options
		off bool
	}{{Options{}, true}, {Options{Telemetry: true}, false}, {Options{Extra: []string{"--telemetry"}}, false}, {Options{Extra: []string{"--no-telemetry"}}, true}} {
		c.o.Hugepages = "off"
		args, _, err := Args(c.o)
		if err != nil || slices.Contains(args, "--no-telemetry") != c.off {
			t.Errorf("%+v: %q, %v", c.o, args, err)
		}
	}
}

func TestSummary(t *testing.T) {
	for log, want := range map[string]string{
		"":   "",
		"\n": "",
		"EAL: Detected CPU lcores: 2\nEAL: FATAL: boom\n": "",
		"EAL: FATAL: boom\nEAL: boom\nEAL: boom\n":        " (DPDK: EAL: boom)",
		"a\nb\nc\nd\n": " (DPDK: a; b; c)",
		"drv: no such file\nEAL: Failed to attach device on primary process\n": " (DPDK: drv: no such file)",
	} {
		if got := summary(log); got != want {
			t.Errorf("%q: %q, want %q", log, got, want)
		}
	}
}

func TestExtraThatMakesEALExit(t *testing.T) {
	for arg, refused := range map[string]bool{
		"-h": true, "--help": true, "--hel": true, "--he": true, "-vh": true, "-hv": true,
		"--h": false, "--huge-dir=/h": false, "-v": false, "-d/lib/h.so": false, "-vd/lib/h": false, "h": false, "--": false, "-": false,
		"--vdev=net_null0": false, "--log-level=help": true, "--log-level": false, "help": false, "--log-level=lib.eal:debug": false,
	} {
		_, _, err := Args(Options{Hugepages: "off", Extra: []string{"--no-telemetry", arg}})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "dpdk.eal_args: \""+arg+"\"") {
			t.Errorf("%s: %v, want refused %v", arg, err, refused)
		}
	}
	if err := CheckExtra([]string{"--log-level", "help"}); err == nil || !strings.Contains(err.Error(), "print its levels and exit") {
		t.Error(err)
	}
}
