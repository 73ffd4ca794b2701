# /etc/intsink/intsink.hcl: a sink whose reports `intsink collect` with deploy/collect/collect.hcl
# takes, on the same machine. Change the two ports, and where INT is.

node { id = 3 }

port "network" { device = "0000:3b:00.0" }
port "host" { device = "0000:3b:00.1" }

link "edge" {
  network = "network"
  host    = "host"
}

int { udp_port = 5000 }

watch "all" {}

report {
  explain = true # records say which events they are for
}

collector "collect" { address = "127.0.0.1:8555" }

http { listen = "127.0.0.1:9465" }
