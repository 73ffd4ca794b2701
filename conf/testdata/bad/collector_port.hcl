port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
port "span" { device = "net_null2" }
port "telemetry" { device = "net_null3" }
link "edge" {
  network = "network"
  host    = "host"
}
tap "span" { port = "span" }
int { udp_port = 5000 }
watch "all" {}
collector "unknown" {
  address = "192.0.2.10:8555"
  port    = "telemetri"
  source  = "192.0.2.1"
}
collector "sourceless" {
  address = "192.0.2.11:8555"
  port    = "telemetry"
}
collector "kernel" {
  address     = "192.0.2.12:8555"
  gateway     = "192.0.2.254"
  gateway_mac = "02:00:5e:00:53:01"
  vlan        = 100
}
collector "tap" {
  address = "192.0.2.13:8555"
  port    = "span"
  source  = "192.0.2.1"
}
collector "mac" {
  address     = "192.0.2.14:8555"
  port        = "telemetry"
  source      = "192.0.2.1"
  gateway_mac = "02:00:5e:00:53"
}
collector "group" {
  address     = "192.0.2.15:8555"
  port        = "telemetry"
  source      = "192.0.2.1"
  gateway_mac = "01:00:5e:00:53:01"
}
collector "zero" {
  address     = "192.0.2.16:8555"
  port        = ""
  source      = "192.0.2.1"
  gateway_mac = "00:00:00:00:00:00"
}
collector "family" {
  address = "192.0.2.17:8555"
  port    = "telemetry"
  source  = "192.0.2.1"
  gateway = "2001:db8::1"
}
collector "itself" {
  address = "192.0.2.18:8555"
  port    = "telemetry"
  source  = "192.0.2.18"
  gateway = "192.0.2.18"
}
collector "groups" {
  address = "239.1.1.1:8555"
  port    = "telemetry"
  source  = "224.0.0.5"
  gateway = "0.0.0.0"
}
collector "loop" {
  address = "127.0.0.1:8555"
  port    = "telemetry"
  source  = "192.0.2.1"
  vlan    = 4095
}
collector "misspelt" {
  address = "192.0.2.19:8555"
  port    = "telemetry"
  source  = "192.0.2.1"
  gatway  = "192.0.2.254"
}
