port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "a" { address = "127.0.0.1:8555" }
http {
  listen = ":9465"
  pprof  = "192.0.2.1:6060"
}
