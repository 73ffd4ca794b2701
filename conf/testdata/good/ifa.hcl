port "a" { device = "net_null0,no-rx=1" }
port "b" { device = "net_null1,no-rx=1" }
link "edge" {
  network = "a"
  host    = "b"
}
int {
  udp_port = 5000
  ifa {
    protocol      = [253, 131]
    copies        = "strip"
    marker        = "0xaaaaaaaabbbbbbbb"
    max_residence = "100ms"
    hop "mine" {
      lns    = 2
      fields = ["lns:4", "device_id:20", "ttl:8", "residence_time:32"]
    }
  }
}
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }
