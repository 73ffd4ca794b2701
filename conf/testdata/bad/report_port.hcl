node { id = 3 }
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int {
  udp_port  = 555
  vxlan_gpe = {}
  geneve    = { port = 6082 }
}
watch "all" {}
report { profile = "transparent-security" }
collector "int" { address = "192.0.2.10:555" }
collector "gpe" { address = "192.0.2.10:4790" }
collector "geneve" { address = "[2001:db8::1]:6082" }
collector "good" { address = "192.0.2.10:8555" }
