node {
  id         = 4294967294
  hw_id_base = 60
}
dpdk {
  lcores     = [4, "2-3", "0"]
  hugepages  = "off"
  mbufs      = 20000
  idle_sleep = "50us"
  eal_args   = ["--log-level=8", "-m", "512", "with \"quotes\" and $${dollar}"]
}
port "network" {
  device  = "3b:00.0"
  id      = 0
  rx_desc = 512
  tx_desc = 4096
  mtu     = 9000
}
port "host" { device = "net_af_packet0,iface=veth-host" }
port "span" { device = "net_pcap0,iface=eth3" }
link "edge" {
  network = "network"
  host    = "host"
}
tap "span" { port = "span" }
int {
  udp_port     = 5000
  dscp         = { value = 16, mask = 48 }
  tcp_options  = "before"
  probe_ports  = 443
  malformed    = "drop"
  fragments    = "strip"
}
flows {
  capacity     = 4096
  idle_timeout = "1m30s"
}
events {
  profile = "wan"
  new_flow { rate = 0 }
  path_change {
    paths  = 2
    memory = "90s"
    ecmp   = "report"
  }
  hop_latency {
    absolute = "1ns"
    relative = 0.125
    k        = 8
    n        = 8
    interval = "0s"
  }
  refresh { jitter = 0 }
}
watch "web" {
  match {
    source           = "10.1.2.3"
    destination      = ["10.0.0.0/8", "2001:db8::/32"]
    protocol         = ["tcp", "UDP", 89]
    source_port      = "1024-65535"
    destination_port = [80, "443", "8000-8099"]
    vlan             = [0, "100-199"]
    dscp             = [0, 46]
    flow             = "inner"
    vni              = [0, "5000-5999", 16777215]
    device           = [1, "4294967294", "0xFF", "0x020000000001"]
  }
  events     = ["path_change", "new_flow"]
  sample     = 1000
  sample_by  = "flow"
  collectors = ["second"]
  events_override {
    hop_latency { k = 1 }
  }
}
watch "samples" {
  match { protocol = 17 }
  events = []
  sample = 1
}
watch "rest" {}
report {
  metadata = []
  fragment = 0
  inner    = "ethernet"
  coalesce {
    max_bytes   = 1514
    max_reports = 1
    max_delay   = "0s"
  }
}
collector "primary" {
  address     = "collector.example:8555"
  source      = "2001:db8::1"
  source_port = 0
}
collector "second" {
  address     = "[2001:db8::10]:8555"
  source_port = "hash"
}
http { listen = "" }
