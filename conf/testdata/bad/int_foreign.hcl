port "n" { device = "net_null0" }
port "h" { device = "net_null1" }
link "edge" {
  network = "n"
  host    = "h"
}
int {
  gre_protocol = 2048
  vxlan_gpe    = { next_protocol = 3 }
  types        = []
  int1_dialect = "gaent"
  shim_length  = "exclusiv"
  checksum     = "ignore"
}
watch "all" {}
collector "c" { address = "192.0.2.1:8555" }
