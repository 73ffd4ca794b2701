node { id = 010 }
dpdk { lcores = [01, 2] }
port "network" {
  device = "net_null0"
  id     = (007)
}
port "host" {
  device = "net_null1"
  mtu    = 00
}
link "edge" {
  network = "network"
  host    = "host"
}
int {
  udp_port    = 05000
  probe_ports = [0, "010-020", 010]
  dscp        = { value = 07 }
  verify      = 01e3
}
events {
  refresh { jitter = 00.5 }
}
watch "all" {
  sample = 0
  match { dscp = -01 }
}
overload { busy = 0.5 }
collector "primary" { address = "192.0.2.10:8555" }
