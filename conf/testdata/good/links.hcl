# each link and tap with its own INT, one of them in some VLANs and prefixes only; watches by link and port
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
port "network2" { device = "net_null2" }
port "host2" { device = "net_null3" }
port "span" { device = "net_null4" }
collector "primary" { address = "192.0.2.10:8555" }

link "edge" {
  network = "network"
  host    = "host"
  int {
    udp_port = 5000
    match {
      vlan   = [10, "100-199"]
      prefix = ["10.0.0.0/8", "2001:db8::/32"]
    }
  }
}
link "other" {
  network = "network2"
  host    = "host2"
}
tap "span" {
  port = "span"
  int {
    dscp      = { value = 23 }
    malformed = "drop"
    domain "d" {
      id = 7
      instruction "id" {
        bit    = 0
        length = 8
        role   = "device_id"
      }
    }
  }
}
int { udp_port = 5001 }
watch "edge" {
  match { link = "edge" }
}
watch "taps and hosts" {
  match {
    link   = ["span", "other"]
    port   = ["span", "host2"]
    device = "0x020000000001"
  }
}
watch "rest" {}
