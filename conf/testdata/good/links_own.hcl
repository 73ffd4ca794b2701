# no link follows the int block of the file
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
collector "primary" { address = "192.0.2.10:8555" }
link "edge" {
  network = "network"
  host    = "host"
  int {
    udp_port = 5000
    match {}
  }
}
int { udp_port = 5001 }
watch "all" {
  match {
    link = "edge"
    port = "host"
  }
}
