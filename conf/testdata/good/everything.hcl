port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int {
  gre_protocol = 34998
  vxlan_gpe    = {}
  geneve       = { port = 6081, option_class = 260 }
  versions     = ["0", "2", "1"]
  domain "transparent-security" {
    id = 21587
    instruction "device_id" {
      bit    = 0
      length = 8
      scope  = "source-only"
      role   = "device_id"
    }
    instruction "sequence" {
      bit    = 1
      length = 4
      scope  = "source-inserted"
      role   = "sequence"
    }
    instruction "depth" {
      bit    = 15
      length = 4
    }
  }
}
events {
  congestion { raise = 8000 }
}
watch "all" {
  events = ["end_to_end", "link_latency", "congestion", "tx_utilization", "loss", "drop", "hop_limit", "mtu_exceeded", "sample"]
}
report { explain = true }
collector "primary" {
  address = "192.0.2.10:8555"
  budget {
    packets = 1000
    bits    = 100000000
    burst   = "1s"
  }
}
