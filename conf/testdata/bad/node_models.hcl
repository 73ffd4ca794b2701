port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
node_model "a" {
  nodes           = [101, "200-299", "300-200", "0-4294967294", -1, "x", 4294967295]
  latency_unit    = "0ns"
  queue_unit      = "80 byte"
  timestamp_bits  = 8
  timestamp_unit  = "0.5ns"
  timestamp_epoch = "unixx"
}
node_model "a" { nodes = [101] }
node_model "b" { nodes = [7, "200-299"] }
node_model "c" { nodes = ["250-320", "5-8", "240-260", "190-330", 7] }
node_model "d" { queue_unit = "0 bytes" }
node_model "e" { queue_unit = 80 }
node_model "f" { nodes = ["100000-150000", "150001-170000"] }
node_model "g" {
  buffer_unit         = "80 bits"
  tx_utilization_full = "100%"
  nodes       = 5000
  latencyunit = "1us"
}
events {
  congestion { raise = 16777216 }
}
watch "all" {
  events_override {
    congestion { raise = 4294967294 }
  }
}
collector "primary" { address = "192.0.2.10:8555" }
