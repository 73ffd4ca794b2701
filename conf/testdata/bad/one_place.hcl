# what has its place already, or none
dpdk {
  lcores     = [1, 2, 3, 4]
  mbufs      = 2047
}
port "n" {
  device  = "net_af_xdp0,iface=eth1"
  rx_desc = 1024
}
port "h" {
  device  = "net_pcap0,iface=eth1"
  rx_desc = 1024
}
link "edge" {
  network = "n"
  host    = "h"
}
int { udp_port = 5000 }
collector "near" { address = "[fe80::10]:8555" }
collector "named" { address = "[fe80::10%lo]:8555" }
collector "from" {
  address = "[2001:db8::1]:8555"
  source  = "fe80::1"
}
http {
  token "reads" {
    sha256 = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"
  }
  token "writes" {
    sha256 = "5E884898DA28047151D0E56F8DC6292773603D0D6AABBDD62A11EF721D1542D8"
    role   = "write"
  }
}
watch "all" {}
