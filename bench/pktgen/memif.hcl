# The other end of pktgen.sh memif, which must run first: it makes the socket.
node { id = 1 }

dpdk {
  lcores    = "1"
  hugepages = "auto"
  mbufs     = 16384
}

port "network" { device = "net_memif0,role=client,id=0,socket=/run/intsink-pktgen.sock,socket-abstract=no" }
port "host" { device = "net_memif1,role=client,id=1,socket=/run/intsink-pktgen.sock,socket-abstract=no" }

link "edge" {
  network = "network"
  host    = "host"
}

int { udp_port = 5000 }

watch "all" {}

collector "primary" { address = "127.0.0.1:8555" }

http { listen = "127.0.0.1:9465" }
