# a worker sleeps longer than the gap that counts as overload
dpdk { idle_sleep = "10ms" }
port "n" { device = "net_null0" }
port "h" { device = "net_null1" }
link "edge" {
  network = "n"
  host    = "h"
}
int {
  dscp     = { value = 23 }
  versions = ["2", "1", "0"]
}
watch "all" {}
overload {
  mode     = "strip"
  poll_gap = "5ms"
}
