port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { dscp = { value = 23 } }
watch "marked" {
  match { dscp = 23 }
}
watch "host" {
  match { device = [7, "0x020000000001"] }
}
watch "pings" {
  match {
    protocol         = ["icmp", "icmpv6"]
    destination_port = 80
  }
}
watch "outer" {
  match { flow = "outer" }
}
watch "inner" {
  match { flow = "inner" }
}
watch "rest" {
  match { flow = "any" }
}
watch "never" {}
collector "primary" { address = "192.0.2.10:8555" }
