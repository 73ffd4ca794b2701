node { id = 0x10 }
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
collector "a" {
  address = "127.0.0.1:8555"
  budget {
    bits = "10M"
  }
}
