port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "a" { address = "192.0.2.10" }
collector "b" { address = "2001:db8::1" }
collector "c" { address = "2001:db8::1:8555" }
collector "d" { address = "nowhere.example:8555" }
collector "e" { address = "collector.example" }
collector "f" { address = "collector.example:http" }
collector "g" { address = "0.0.0.0:8555" }
collector "h" {}
collector "i" {
  address = "192.0.2.10:8555"
  source  = "2001:db8::1"
}
collector "j" {
  address = "six.example:8555"
  source  = "192.0.2.1"
}
collector "k" { address = "192.0\u001b2.10:8555" }
