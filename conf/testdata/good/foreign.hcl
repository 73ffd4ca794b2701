# INT as programs write it that do not follow the documents; two settings that do nothing
port "n" { device = "net_null0" }
port "h" { device = "net_null1" }
link "edge" {
  network = "n"
  host    = "h"
}
int {
  udp_port     = 555
  gre_protocol = 34998
  versions     = ["1"]
  shim_length  = "inclusive"
  checksum     = "keep"
  types        = ["md", "mx"]
}
