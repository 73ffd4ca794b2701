node {
  id         = 4294967296
  hw_id_base = 64
}
dpdk {
  mbufs      = 10
  idle_sleep = "1s"
}
port "network" {
  device  = "0000:3b:00"
  id      = 65536
  rx_desc = 100
  tx_desc = 8192
  mtu     = 20
}
port "host" { device = "" }
link "edge" {
  network = "network"
  host    = "host"
}
int {
  udp_port     = 0
  dscp         = { value = 64, mask = 63 }
  gre_protocol = 80
  vxlan_gpe    = { next_protocol = 256 }
  versions     = ["2", "3", "2"]
}
flows {
  capacity     = 1
  idle_timeout = "-30s"
}
events {
  path_change {
    paths = 17
    rate  = -1
    ecmp  = "reprot"
  }
  hop_latency {
    absolute = "10"
    relative = -0.5
    k        = 0
    interval = "10 seconds"
  }
  refresh { jitter = 1.5 }
  congestion { raise = 16777216 }
  loss { timeout = "-1ms" }
}
watch "all" {
  sample    = -1
  sample_by = "flows"
  match {
    source           = ["10.0.0.1/8", "10.0.0.0/33", "fe80::1%eth0"]
    protocol         = ["tpc", 256]
    source_port      = ["80-70", "0-65536", "http", "1-2-3"]
    destination_port = [70000, 80, 80]
    vlan             = 4096
    dscp             = [64]
  }
}
report {
  fragment = 9000
  inner    = "eth"
  coalesce {
    max_bytes = 10000
    max_delay = "1h"
  }
}
collector "primary" {
  address     = "192.0.2.10:70000"
  source      = "eth0"
  source_port = "hsah"
  budget { burst = "0s" }
}
http { listen = "9465" }
