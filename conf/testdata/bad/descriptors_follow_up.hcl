dpdk {
  lcores     = "0-7"
  hugepages  = "offf"
  mbufs      = 10000
}
port "network" {
  device  = "net_null0"
  rx_desc = 1000
}
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }
