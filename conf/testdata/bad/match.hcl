port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {
  match {
    vni    = [16777216, "9-1", "5000-16777216", -1]
    device = [4294967296, "spine1", "0200000000FF", 4294967295, "0xffffffffffffffff", 1.5]
    flow   = "iner"
    vlans  = [1]
    dscp   = ["46"]
  }
}
collector "primary" { address = "192.0.2.10:8555" }
