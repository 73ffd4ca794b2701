port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "primary" {
  address     = "192.0.2.10:8555"
  source_port = 0
}
report {
  profile  = "transparent-security"
  metadata = ["interfaces"]
  fragment      = 136
  fragment_ipv6 = 188
  coalesce { max_bytes = 256 }
}
