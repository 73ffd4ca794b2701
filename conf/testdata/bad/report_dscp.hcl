# Report packets that a node on the way would take for INT.
port "n" { device = "net_null0" }
port "h" { device = "net_null1" }
link "edge" {
  network = "n"
  host    = "h"
}
node { id = 1 }
int { dscp = { value = 4, mask = 4 } }
watch "all" {}
collector "primary" {
  address = "192.0.2.10:8555"
  dscp    = 46
  ttl     = 0
}
