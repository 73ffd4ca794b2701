port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }

overload {
  mode  = "strip"
  busy  = 0
  full_bursts = 0
  clear = "10ms"
}

bypass {
  command   = ["bypass-switch"]
  heartbeat = "10ms"
}
