package offline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/gen"
)

// Markings as the int block of a configuration has them.
const (
	byPort     = `udp_port = 5000`
	byDSCP     = `dscp = { value = 23, mask = 63 }`
	byProbe    = `probe_marker = "0x0102030405060708"`
	byGRE      = `gre_protocol = 34998`
	byGPE      = `vxlan_gpe = { port = 4790, next_protocol = 130 }`
	byGeneve   = `geneve = { port = 6081, option_class = 259 }`
	byIFA      = "ifa {\n    protocol = 253\n    copies = \"strip\"\n  }"
	byIOAM     = "ioam {\n    namespace = 123\n  }"
	tunnelIOAM = "ioam {\n    namespace = 123\n    decapsulate = \"2001:db8:ffff:1::1\"\n  }"
	version1   = "\n  versions = [\"1\"]"
	version0   = "\n  versions = [\"0\"]"
)

var gens = []struct{ flags, marking, kind string }{
	{"--encap udp", byPort, "md"},
	{"--encap udp --proto tcp", byPort, "md"},
	{"--encap udp --then-destination", byPort, "md"},
	{"--encap udp --type mx", byPort, "mx"},
	{"--encap udp --type mx --proto tcp", byPort, "mx"},
	{"--encap udp --type mx --then-destination", byPort, "mx"},
	{"--encap udp --type destination", byPort, "destination"},
	{"--encap udp --tunnel vxlan", byPort, "md"},
	{"--encap udp --tunnel gre --proto tcp --ipv6", byPort, "md"},
	{"--encap udp --tunnel geneve --vlan 9 --then-destination", byPort, "md"},
	{"--encap udp --tunnel ipip", byPort, "md"},
	{"--encap udp-new --proto tcp", byPort, "md"},
	{"--encap udp-new --type mx --tunnel vxlan", byPort, "mx"},
	{"--encap udp-new --then-destination", byPort, "md"},
	{"--encap udp --proto tcp --ipv6 --type mx --then-destination", byPort, "mx"},
	{"--encap udp-new --type destination --tunnel ipip --ipv6", byPort, "destination"},
	{"--encap dscp --proto tcp", byDSCP, "md"},
	{"--encap dscp --type mx", byDSCP, "mx"},
	{"--encap dscp --type destination --proto tcp", byDSCP, "destination"},
	{"--encap dscp --tunnel vxlan --proto tcp", byDSCP, "md"},
	{"--encap dscp --tunnel gre", byDSCP, "md"},
	{"--encap dscp --tunnel geneve --ipv6", byDSCP, "md"},
	{"--encap dscp --tunnel ipip", byDSCP, "md"},
	{"--encap dscp --format 1", byDSCP + version1, "md"},
	{"--encap dscp --format 1 --type destination", byDSCP + version1, "destination"},
	{"--encap probe --proto tcp", byProbe, "md"},
	{"--encap probe --type mx", byProbe, "mx"},
	{"--encap probe --tunnel vxlan", byProbe, "md"},
	{"--encap probe --tunnel geneve --type destination", byProbe, "destination"},
	{"--encap probe --format 1 --proto tcp --tunnel gre", byProbe + version1, "md"},
	{"--encap gre", byGRE, "md"},
	{"--encap gre --type mx --vlan 7", byGRE, "mx"},
	{"--encap gre --type destination --ipv6", byGRE, "destination"},
	{"--encap gre --then-destination", byGRE, "md"},
	{"--encap gre-inserted", byGRE, "md"},
	{"--encap gre-inserted --ipv6 --vlan 7 --proto tcp", byGRE, "md"},
	{"--encap gre-inserted --type mx --then-destination", byGRE, "mx"},
	{"--encap gre-inserted --type destination", byGRE, "destination"},
	{"--encap vxlan-gpe", byGPE, "md"},
	{"--encap vxlan-gpe --type mx --ipv6", byGPE, "mx"},
	{"--encap vxlan-gpe --type destination", byGPE, "destination"},
	{"--encap vxlan-gpe --then-destination --hops 12", byGPE, "md"},
	{"--encap vxlan-gpe --format 1 --then-destination", byGPE + version1, "md"},
	{"--encap vxlan-gpe --format 2016", byGPE + version0, "md"},
	{"--encap vxlan", byGPE, "md"},
	{"--encap vxlan --type mx --then-destination --vlan 3", byGPE, "mx"},
	{"--encap vxlan --type destination --ipv6", byGPE, "destination"},
	{"--encap geneve --hops 5", byGeneve, "md"},
	{"--encap ifa", byIFA, "ifa"},
	{"--encap ifa --proto tcp --ipv6 --tunnel vxlan", byIFA, "ifa"},
	{"--encap ifa-copy", byIFA, "ifa"},
	{"--encap ioam --ipv6 --hops 12", byIOAM, "ioam"},
	{"--encap ioam --ipv6 --proto tcp --tunnel vxlan --timestamps", byIOAM, "ioam"},
	{"--encap ioam-tunnel", tunnelIOAM, "ioam"},
	{"--encap ioam-tunnel --ipv6 --proto tcp --vlan 7", tunnelIOAM, "ioam"},
	{"--encap geneve --then-destination --ipv6", byGeneve, "md"},
	{"--encap geneve --type mx", byGeneve, "mx"},
	{"--encap geneve --type destination", byGeneve, "destination"},
	{"--encap geneve --format 1 --hops 5", byGeneve + version1, "md"},
	{"--encap geneve --format 2016", byGeneve + version0, "md"},
}

// TestEveryEncapsulationIsTakenOff: what gen makes with INT, replay gives back as
// gen --original has it, and all of it was INT of the asked type.
func TestEveryEncapsulationIsTakenOff(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range gens {
		seen[strings.Fields(c.flags)[1]] = true
		t.Run(strings.ReplaceAll(c.flags, " ", ""), func(t *testing.T) {
			t.Parallel()
			const count, flows = 300, 20
			dir := t.TempDir()
			in, orig, out := filepath.Join(dir, "in.pcap"), filepath.Join(dir, "orig.pcap"), filepath.Join(dir, "out.pcap")
			sinktest.Must(t, append([]string{"gen", "--out", in, "--original", orig, "--flows", "20", "--count", "300"}, strings.Fields(c.flags)...)...)
			conf := sinktest.Write(t, filepath.Join(dir, "c.hcl"), sinktest.Offline("\n"+c.marking+"\n"))
			text := sinktest.Must(t, "replay", "--config", conf, "--in", in, "--out", out, "--reports", filepath.Join(dir, "rep"))
			s := sinktest.LastLine(t, text)
			if s.Received != count || s.Forwarded != count || s.Reports["new_flow"] != flows {
				t.Errorf("summary %+v", s)
			}
			if !strings.Contains(text, "INT        300 "+c.kind+"\n") || strings.Contains(text, "malformed") {
				t.Errorf("not all of it is INT of type %s:\n%s", c.kind, text)
			}
			if !sameFile(t, orig, out) {
				t.Error("the packets behind the sink are not the originals")
			}
			if sameFile(t, in, orig) {
				t.Error("gen put no INT into the packets")
			}
		})
	}
	for _, e := range gen.Encapsulations {
		if !seen[e.Name] {
			t.Errorf("no test of --encap %s", e.Name)
		}
	}
}

// TestPlainPacketsOfTunnels: packets without INT stand beside those with it, and
// events happen, in tunnels as well.
func TestPlainPacketsOfTunnels(t *testing.T) {
	for marking, flags := range map[string]string{
		byGRE: "--encap gre", byGPE: "--encap vxlan", byGeneve: "--encap geneve", byDSCP: "--encap dscp --tunnel vxlan",
	} {
		t.Run(marking, func(t *testing.T) {
			dir := t.TempDir()
			in, orig, out := filepath.Join(dir, "in.pcap"), filepath.Join(dir, "orig.pcap"), filepath.Join(dir, "out.pcap")
			sinktest.Must(t, append([]string{"gen", "--out", in, "--original", orig,
				"--flows", "7", "--count", "700", "--plain", "0.5", "--latency-step-every", "90", "--size", "300"}, strings.Fields(flags)...)...)
			conf := sinktest.Write(t, filepath.Join(dir, "c.hcl"), sinktest.Offline(marking))
			s := sinktest.LastLine(t, sinktest.Must(t, "replay", "--config", conf, "--in", in, "--out", out, "--reports", filepath.Join(dir, "rep")))
			if s.Forwarded != 700 || s.Reports["hop_latency"] == 0 || !sameFile(t, orig, out) {
				t.Errorf("%s: summary %+v", flags, s)
			}
		})
	}
}

// TestFlagsThatContradict: usage errors, one line each, that say what to do.
func TestFlagsThatContradict(t *testing.T) {
	for flags, want := range map[string]string{
		"--encap mpls": `udp, udp-new, dscp, probe, gre, gre-inserted, vxlan-gpe, vxlan, geneve, ifa, ifa-copy, ioam or ioam-tunnel`,
		"--encap ioam": `needs --ipv6`,
		"--encap ioam --ipv6 --hops 11 --timestamps": `0 to 10`,
		"--type mdx":                               `md, mx or destination`,
		"--format 3":                               `2, 1 or 2016`,
		"--tunnel mpls":                            `none, vxlan, gre, geneve or ipip`,
		"--tunnel vxlan-gpe":                       `none, vxlan, gre, geneve or ipip`,
		"--format 1":                               `use --encap dscp, probe, vxlan-gpe or geneve`,
		"--format 2016 --encap dscp":               `use --encap vxlan-gpe or geneve`,
		"--format 2016 --encap vxlan":              `use --encap vxlan-gpe or geneve`,
		"--format 1 --encap dscp --type mx":        `leave --format 1 out`,
		"--hops 6 --encap geneve":                  `0 to 5`,
		"--hops 3 --type mx":                       `--hops needs --type md`,
		"--type destination --path-change-every 5": `need --type md`,
		"--type destination --then-destination":    `--type md or mx`,
		"--encap dscp --then-destination":          `use --encap udp, udp-new, gre, gre-inserted, vxlan-gpe, vxlan or geneve`,
		"--encap geneve --tunnel vxlan":            `use --encap udp, udp-new, dscp, probe, ifa, ifa-copy or ioam`,
		"--tunnel geneve --udp-port 6081":          `use another`,
		"--size 100 --tunnel vxlan":                `are 168 bytes: ask for that or more`,
		"--size 70000":                             `at most 65535`,
		"--size -1":                                `must be the bytes of headers, INT and payload, at most 65535`,
		"--size 0":                                 `must be the bytes of headers, INT and payload`,
		"--pps 1e-30":                              `must be 0.001 to 1000000000`,
		"--pps NaN":                                `must be 0.001 to 1000000000`,
		"--pps many":                               `--pps "many": must be a number`,
		"--pps 0.001 --count 10000000":             `would last 317 years`,
		"--count 0":                                `must be 1 or more`,
		"--count -1":                               `--count "-1": must be a whole number from 0`,
		"--flows 0":                                `must be 1 to 16777216`,
		"--hops -1":                                `must be 0 to 12`,
		"--vlan 70000":                             `--vlan "70000": must be a whole number from 0 to 65535`,
		"--vlan 4095":                              `must be 1 to 4094`,
		"--dscp 300":                               `--dscp "300": must be a whole number from 0 to 255`,
		"--probe-marker 0":                         `must not be 0`,
		"--plain 2":                                `must be 0 to 1`,
		"--hops 0 --path-change-every 5":           `must be 1 or more`,
		"--live a,b --hops 1 --latency-step-after 1s": `must be 2 or more`,
		"--live a,b --count 5":                        `--count needs --out`,
		"--live a":                                    `two different interfaces`,
		"--link-latency 5us":                          `need --timestamps`,
		"--timestamps --link-latency 2h":              `must be 0s to 1s`,
		"--timestamps --link-latency fast":            `--link-latency "fast": must be a duration`,
		"--timestamps --type mx":                      `needs --type md`,
		"--timestamps --format 2016 --encap geneve":   `needs --format 2 or 1`,
		"--timestamps --encap geneve --hops 4":        `0 to 3`,
		"--timestamps --hops 1 --link-step-every 5":   `must be 2 or more`,
		"--live a,b --timestamps --link-step-every 5": `--link-step-every needs --out`,
		"--live a,b --tunnel vxlan":                   `--tunnel needs --out`,
		"--live a,b --original x":                     `--original needs --out`,
		"--live a,b --encap geneve --hops 9":          `0 to 5`,
		"--type mx --live a,b --path-change-after 1s": `need --type md`,
	} {
		t.Run(flags, func(t *testing.T) {
			args := append([]string{"gen"}, strings.Fields(flags)...)
			if !strings.Contains(flags, "--live") {
				args = append(args, "--out", filepath.Join(t.TempDir(), "x.pcap"))
			}
			_, stderr, code := sinktest.Run(t, args...)
			if code != 2 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: exit code %d, %q; want 2 and one line with %q", flags, code, stderr, want)
			}
		})
	}
}

// TestGenSaysWhatIsInTheFile: no more flows than packets.
func TestGenSaysWhatIsInTheFile(t *testing.T) {
	for count, want := range map[string]string{"50": "50 packets, 50 with INT, 50 flows\n", "150": "150 packets, 150 with INT, 100 flows\n"} {
		t.Run(count, func(t *testing.T) {
			if out := sinktest.Must(t, "gen", "--out", filepath.Join(t.TempDir(), "x.pcap"), "--count", count, "--flows", "100"); !strings.HasSuffix(out, want) {
				t.Errorf("%q, want %q", out, want)
			}
		})
	}
}

// TestLiveWithoutInterface: --live names what is not there.
func TestLiveWithoutInterface(t *testing.T) {
	_, stderr, code := sinktest.Run(t, "gen", "--live", "nope,lo")
	if want := `--live, IN: interface "nope": there is no such interface; ip link lists`; code != 2 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, %q; want 2 and %q", code, stderr, want)
	}
}

// TestHelpNamesEveryEncapsulation: the help is made of the same table as the check.
func TestHelpNamesEveryEncapsulation(t *testing.T) {
	help := sinktest.Must(t, "gen", "--help")
	for _, e := range gen.Encapsulations {
		if !strings.Contains(help, "\n  "+e.Name+" ") || !strings.Contains(help, e.Help) {
			t.Errorf("the help has no line of --encap %s", e.Name)
		}
	}
	for _, flag := range []string{"--type", "--format", "--tunnel", "--then-destination"} {
		if !strings.Contains(help, flag+" ") && !strings.Contains(help, flag+"[=") {
			t.Errorf("the help does not speak of %s", flag)
		}
	}
}
