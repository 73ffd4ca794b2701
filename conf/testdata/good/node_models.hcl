port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
node_model "tofino" {
  nodes           = [101, "200-299"]
  latency_unit    = "1ns"
  queue_unit      = "80 bytes"
  buffer_unit     = "160 bytes"
  timestamp_bits  = 48
  timestamp_unit  = "1ns"
  timestamp_epoch = "none"
}
node_model "old" {
  nodes        = 7
  latency_unit = "1us"
  queue_unit   = "1  packets"
  buffer_unit  = "2 cells"
  tx_utilization_full = 10000
}
node_model "others" { timestamp_epoch = "none" }
node_model "last" {
  nodes           = "4294967294"
  timestamp_epoch = "none"
  timestamp_unit  = "8ns"
}
events {
  end_to_end { clock = "ptp" }
  congestion {
    raise = 20000000
    clear = 17000000
  }
  tx_utilization { raise = 9000 }
}
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }
