# One link between two NICs. INT arrives on "network".

node { id = 3 }

dpdk {
  # lcores  = "1-4" # one worker on each; default: one, on the last CPU
  hugepages = "on"
  mbufs     = 131072
}

port "network" {
  device  = "0000:3b:00.0"
  rx_desc = 2048
  tx_desc = 2048
}

port "host" {
  device  = "0000:3b:00.1"
  rx_desc = 2048
  tx_desc = 2048
}

link "edge" {
  network = "network"
  host    = "host"
}

int {
  udp_port = 5000 # of UDP alone; sources that mark TCP, too: dscp = { value = 23, mask = 63 } in its place
}

# Servers: everything that happens, and one packet in 100 000.
watch "servers" {
  match {
    destination      = ["10.0.0.0/8", "2001:db8::/32"]
    protocol         = ["tcp", "udp"]
    destination_port = [80, 443, "8000-8099"]
  }
  sample = 100000
  events_override {
    hop_latency {
      absolute = "5us"
      k        = 3
    }
  }
}

# The rest: only where packets take another way.
watch "rest" { events = ["path_change"] }

collector "primary" {
  address     = "192.0.2.10:8555"
  source_port = "hash" # spreads over the collector's receive queues
}
