node { id = 0x10 } # what a comment says, bits = 10M, is left alone
port "network" { device = 0000:3b:00.0 }
port "host" { device = "net_null1,mac=0x12" }
link "edge" {
  network = "network"
  host    = "host"
}
int {
  udp_port     = 5000
  probe_marker = 0x01
}
flows {
  capacity     = 1.5G
  idle_timeout = 30s
}
watch "all" {
  match { device = [7, 0x020000000001] }
}
collector "a" {
  address = "127.0.0.1:8555"
  budget { bits = 10M }
}
collector "b" {
  address     = "127.0.0.1:8556"
  gateway_mac = 02:00:5e:00:53:01
  budget {
    bits    = 10Mbit/s
    packets = 1.2345k
  }
}
