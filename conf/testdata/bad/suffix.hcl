port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" { sample = "1.5bit" }
dpdk {
  mbufs     = "10Mbit"
  mbuf_size = "1.2345k"
}
flows { capacity = "010" }
collector "a" {
  address = "127.0.0.1:8555"
  budget {
    packets = "10"
    bits    = "10M"
  }
}
collector "b" {
  address = "127.0.0.1:8556"
  budget {
    packets = "20kpps"
    bits    = "1.5G"
  }
}
collector "c" {
  address = "127.0.0.1:8557"
  budget { bits = "10Mbit" }
}
collector "d" {
  address = "127.0.0.1:8558"
  budget { bits = "2.5 Gbit/s" }
}
collector "e" {
  address = "127.0.0.1:8559"
  budget { bits = "64kbps" }
}
collector "f" {
  address = "127.0.0.1:8560"
  budget { bits = "10MB" }
}
