# Between two ports of a traffic generator: network is where its frames arrive.
# One lcore per rx queue, on the NIC's NUMA node; hugepages reserved before.
node { id = 1 }

dpdk {
  lcores    = "2"
  hugepages = "on"
  mbufs     = 65536
}

port "network" { device = "0000:3b:00.0" }
port "host" { device = "0000:3b:00.1" }

link "edge" {
  network = "network"
  host    = "host"
}

int { udp_port = 5000 }

watch "all" {}

collector "primary" { address = "127.0.0.1:8555" }

http { listen = "127.0.0.1:9465" }
