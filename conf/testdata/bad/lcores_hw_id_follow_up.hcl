node { hw_id_base = 60 }
dpdk {
  lcores = "0-7"
  mbufs  = 2048
}
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }
