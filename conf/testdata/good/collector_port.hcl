port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
port "telemetry" {
  device = "net_null2"
  mtu    = 1300
}
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "on-link" {
  address = "192.0.2.10:8555"
  port    = "telemetry"
  source  = "192.0.2.1"
}
collector "routed" {
  address     = "198.51.100.10:8555"
  port        = "telemetry"
  source      = "192.0.2.1"
  gateway     = "192.0.2.254"
  vlan        = 100
  source_port = "hash"
}
collector "fixed" {
  address     = "[2001:db8::10]:8555"
  port        = "host"
  source      = "2001:db8:1::1"
  gateway_mac = "02-00-5E-00-53-01"
}
collector "needless" {
  address     = "192.0.2.11:8555"
  port        = "network"
  source      = "192.0.2.1"
  gateway     = "192.0.2.254"
  gateway_mac = "02:00:5e:00:53:01"
}
