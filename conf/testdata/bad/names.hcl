port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
port "host" { device = "NET_NULL1" }
port "third" {
  device = "net_null2"
  id     = 1
}
port {
  device = "net_null4"
}
port "a" "b" { device = "net_null5" }
port "new\nline" { device = "net_null6" }
link "edge" {
  network = "netwrok"
  host    = "host"
}
link "loop" {
  network = "third"
  host    = "third"
}
link "half" { network = "network" }
tap "span" { port = "host" }
int { udp_port = 5000 }
watch "all" {
  events     = ["new_flo", "telepathy", "loss", "loss"]
  collectors = ["primray", "backup"]
}
collector "primary" { address = "192.0.2.10:8555" }
collector "secondary" { address = "192.0.2.11:8555" }
