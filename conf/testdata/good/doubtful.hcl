port "network" { device = "eth0" }
port "host" { device = "net_null1" }
port "spare" { device = "net_null2" }
link "edge" {
  network = "network"
  host    = "host"
}
dpdk {
  lcores = "0-1"
  mbufs  = 7000
}
int {
  dscp         = { value = 0 }
  probe_marker = "0x0102030405060708"
  int1_dialect = "geant"
}
events {
  end_to_end { clock_offset = "-5us" }
  congestion { raise = 0 }
}
watch "collectors" {
  match {
    destination = "192.0.2.10"
    protocol    = "udp"
  }
  events = ["sample"]
}
watch "nothing" {
  match { protocol = "tcp" }
  events = []
}
watch "all" { events = ["congestion"] }
watch "never" {}
report {
  coalesce { max_bytes = 9000 }
}
collector "primary" { address = "192.0.2.10:8555" }
collector "again" { address = "192.0.2.10:8555" }
collector "slow" {
  address = "192.0.2.11:8555"
  budget {
    packets = 5
    bits    = 1000
  }
}
collector "narrow" {
  address = "[2001:db8::1]:8555"
  budget {
    bits  = 100000
    burst = "10ms"
  }
}
