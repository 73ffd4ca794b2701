port "a" { device = "net_null0,no-rx=1" }
port "b" { device = "net_null1,no-rx=1" }
link "edge" {
  network = "a"
  host    = "b"
  int {
    ioam {
      namespace     = [0, 123]
      clock         = "ptp"
      decapsulate   = ["2001:DB8::1", "2001:db8:0::2"]
      flow_sequence = true
    }
  }
}
int {
  ioam {
    namespace = 123
  }
}
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }
