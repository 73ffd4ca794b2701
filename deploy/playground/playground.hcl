# The sink of `make playground`: two kernel interfaces in its namespace. No threshold is set: what is usual, it learns.
node { id = 3 }

dpdk {
  hugepages  = "off"
  mbufs      = 16384
  idle_sleep = "100us" # leave the CPU to others
}

port "network" { device = "kernel:s-net" }
port "host" { device = "kernel:s-host" }

link "edge" {
  network = "network"
  host    = "host"
}

# How this network marks packets with INT: a UDP port. Its source numbers the packets of each flow.
int {
  udp_port = 5000
  domain "playground" {
    id = 7
    instruction "number" {
      bit    = 0
      length = 4
      scope  = "source-only"
      role   = "sequence"
    }
  }
}

flows { capacity = 16384 }

node_model "switches" { tx_utilization_full = 100 } # they write per cent

watch "all" {} # the default events

report { explain = true } # the collector is intsink's own: each report says which events it was sent for
collector "local" { address = "127.0.0.1:8555" }

# What changes something, such as intsink capture and intsink mode, is taken on the socket.
http {
  listen = "127.0.0.1:9465"
  socket = "/run/intsink-playground-api.sock"
}
