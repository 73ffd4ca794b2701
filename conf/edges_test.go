package conf

import (
	"fmt"
	"strings"
	"testing"
)

// TestEdges: values at the edge of what a check lets pass, and one beyond; want is part of
// what is said, "" where nothing is.
func TestEdges(t *testing.T) {
	ports := func(a, b, more string) string {
		return fmt.Sprintf(`
port "network" { device = %q }
port "host" { device = %q }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
collector "primary" { address = "192.0.2.10:8555" }
watch "all" {}
%s
`, a, b, more)
	}
	heartbeat := func(interval string) string {
		return "bypass {\n  command = [\"/bin/true\"]\n  heartbeat = \"" + interval + "\"\n}"
	}
	domain := func(scope string, bytes int) string {
		return strings.Replace(base, "int { udp_port = 5000 }", "int {\n  udp_port = 5000\n"+fmt.Sprintf(`  domain "d" {
    id = 7
    instruction "a" {
      bit    = 0
      length = 64
      scope  = "hop"
    }
    instruction "b" {
      bit    = 1
      length = %d
      scope  = %q
    }
  }
}
`, bytes, scope), 1) + "watch \"all\" {}\n"
	}
	for _, c := range []struct{ name, src, want string }{
		{"mbufs as many as receive descriptors", ports("net_null0", "net_null1", "dpdk { mbufs = 2048 }"), "may run out"},
		{"one mbuf fewer", ports("net_null0", "net_null1", "dpdk { mbufs = 2047 }"), "alone take 2048"},
		{"one PCI device, with and without domain", ports("0000:3b:00.0", "3b:00.0", ""), "each needs its own"},
		{"the same in other letters", ports("0000:3B:00.0", "3b:00.0", ""), "each needs its own"},
		{"another domain", ports("0001:3b:00.0", "3b:00.0", ""), ""},
		{"another function", ports("0000:3b:00.1", "3b:00.0", ""), ""},
		{"hops of a domain as long as there can be", domain("hop", 60), ""},
		{"one word longer", domain("hop", 64), "at most 124"},
		{"what a source adds alone is no part of it", domain("source-only", 64), ""},
		{"nor what it inserts", domain("source-inserted", 64), ""},
		{"reports of a whole Ethernet frame", ports("net_null0", "net_null1", "report {\n  coalesce { max_bytes = 1514 }\n}"), ""},
		{"of one byte more", ports("net_null0", "net_null1", "report {\n  coalesce { max_bytes = 1515 }\n}"), "more than an Ethernet frame of 1514 bytes"},
		{"no heartbeat", ports("net_null0", "net_null1", heartbeat("0s")), ""},
		{"the shortest heartbeat", ports("net_null0", "net_null1", heartbeat("100ms")), ""},
		{"a shorter one", ports("net_null0", "net_null1", heartbeat("99999999ns")), "at least 100ms"},
		{"the shortest time as heartbeat", ports("net_null0", "net_null1", heartbeat("1ns")), "bypass: heartbeat = 1ns"},
		{"local reads without a right to show", ports("net_null0", "net_null1", "http { local_reads = false }"), "nobody could read over TCP"},
		{"memif, a socket that is a file", ports("net_memif0,socket-abstract=no,socket=/run/intsink/m", "net_null1", ""), ""},
		{"memif, a socket that everybody may join", ports("net_memif0,role=server", "net_null1", ""), "socket-abstract=no"},
		{"memif, a named one", ports("net_memif0,role=server,socket=/run/intsink/m", "net_null1", ""), "socket-abstract=no"},
		{"memif, a server with a secret", ports("net_memif0,role=master,secret=x", "net_null1", ""), ""},
		{"memif, a client that tells its secret", ports("net_memif0,secret=x", "net_null1", ""), "socket-abstract=no"},
		{"port of HTTP", ports("net_null0", "net_null1", `http { listen = "127.0.0.1:65535" }`), ""},
		{"port of HTTP beyond 16 bits", ports("net_null0", "net_null1", `http { listen = "127.0.0.1:65536" }`), "65536"},
		{"port of HTTP far beyond", ports("net_null0", "net_null1", `http { listen = "127.0.0.1:75001" }`), "75001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, d := parse("test.hcl", []byte(c.src), fakeMachine())
			var said strings.Builder
			d.WriteTo(&said)
			if c.want == "" && said.Len() > 0 || !strings.Contains(said.String(), c.want) {
				t.Errorf("says %q, want %q", said.String(), c.want)
			}
		})
	}
}
