port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { dscp = { value = 23, mask = 1 } }
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }
