port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
events {
  hop_latency { k = 5 }
  congestion {
    raise = 4000
    clear = 8000
  }
  tx_utilization { raise = 50 }
}
watch "all" {
  collectors = []
  events_override {
    end_to_end {
      k = 3
      n = 2
    }
  }
}
report {
  fragment = 980
  coalesce { max_bytes = 1000 }
}
collector "primary" { address = "192.0.2.10:8555" }
