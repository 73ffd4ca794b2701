port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
node { id = "3" }
dpdk {
  hugepages = auto
  mbufs     = 65536.5
  eal_args  = "-m 512"
  lcores    = "4-1"
  idle_sleep = 5
}
int {
  udp_port     = [5000]
  dscp         = 23
  probe_marker = "0102030405060708"
  probe_ports  = { a = 1 }
  versions     = "2"
  malformed    = true
}
events {
  refresh {
    jitter = "0.2"
    every  = 2
  }
}
watch "all" {
  sample = upper("x")
  events = [new_flow]
  match {
    protocol = ["${1 + 1}"]
    source   = 10
  }
}
report { explain = "yes" }
http { listen = 9465 }
collector "primary" { address = "192.0.2.10:8555" }
