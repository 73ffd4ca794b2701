# The least that runs: two DPDK null devices, no NIC, no hugepages. Nothing
# arrives on them. To see packets, use Linux interfaces instead:
#   device = "kernel:veth-network"

dpdk {
  hugepages  = "off"
  mbufs      = 8192
  idle_sleep = "100us" # leave the CPU to others when there is no traffic
}

port "network" { device = "net_null0,no-rx=1" }
port "host" { device = "net_null1,no-rx=1" }

link "edge" {
  network = "network"
  host    = "host"
}

int { udp_port = 5000 }

flows { capacity = 65536 }

watch "all" {}

collector "local" { address = "127.0.0.1:8555" }
