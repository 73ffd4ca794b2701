# version 1.0 with the bits of the proposal of January 2018
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }

report {
  version = "1.0"
  layout  = "2018"
}
