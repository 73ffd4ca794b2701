port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { probe_marker = "0x0000000000000000" }
watch "all" {}
dpdk { idle_sleep = "0.0001us" }
flows { idle_timeout = "1.0000000001s" }
collector "broadcast" { address = "255.255.255.255:8555" }
collector "group" { address = "239.1.2.3:8555" }
collector "group6" { address = "[ff02::1]:8555" }
collector "any" { address = "[::]:8555" }
collector "any name" { address = "nobody.example:8555" }
collector "bare" { address = "::1:8555" }
collector "bare5" { address = "2001:db8::1:18555" }
collector "no port" { address = "2001:db8::1:5" }
collector "mapped" { address = "[::ffff:255.255.255.255]:8555" }
