# The sink of the demo: two kernel interfaces in its namespace.
node { id = 3 }

dpdk {
  hugepages  = "off"
  mbufs      = 16384
  idle_sleep = "50us" # the demo shares two cores with everything else
}

port "network" { device = "kernel:s-net" }
port "host" { device = "kernel:s-host" }

link "edge" {
  network = "network"
  host    = "host"
}

int { udp_port = 5000 }

flows { idle_timeout = "3s" }

watch "all" {
  sample = 5000
}

report { explain = true } # each report says which events it was sent for

collector "demo" { address = "127.0.0.1:8555" }

http { listen = "127.0.0.1:9465" }
