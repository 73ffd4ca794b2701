port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { dscp = { vlaue = 23, mask = 63, mask = 62, "x" = 1, (3) = 4 } }
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }
