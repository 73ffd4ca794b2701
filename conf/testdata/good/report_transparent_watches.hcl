port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
collector "primary" { address = "192.0.2.10:8555" }
watch "web" {
  events = ["new_flow"]
  match { destination_port = 443 }
}
watch "dns" {
  events = ["drop", "new_flow", "flow_end"]
  match { destination_port = 53 }
}
watch "ntp" {
  events = ["drop"]
  match { destination_port = 123 }
}
watch "quic" {
  events = ["loss"]
  match { destination_port = 4433 }
}
watch "ssh" {
  events = ["drop", "loss"]
  match { destination_port = 22 }
}
watch "rest" {}
report {
  profile  = "transparent-security"
  metadata = ["queue"]
  inner    = "ip"
}
