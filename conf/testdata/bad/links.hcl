port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
port "network2" { device = "net_null2" }
port "host2" { device = "net_null3" }
port "span" { device = "net_null4" }
collector "primary" { address = "192.0.2.10:8555" }

port "reports" { device = "net_null5" }
link "edge" {
  network = "network"
  host    = "host"
  int {
    udp_port = 8555
    verify   = 5
    match {
      vlan   = 4096
      prefix = "10.0.0.1/8"
    }
  }
}
link "other" {
  network = "network2"
  host    = "host2"
  int {
    match {}
  }
}
tap "span" { port = "span" }
watch "a" {
  match {
    link = ["egde", "other"]
    port = ["reports", "hots", "host"]
  }
}
watch "b" {
  match { port = [1] }
}
watch "c" {
  match {
    link = "edge"
    port = "host2"
  }
}
