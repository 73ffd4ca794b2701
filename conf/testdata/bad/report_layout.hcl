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
  layout  = "2017"
}
