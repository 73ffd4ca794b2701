port "up" { device = "kernel:a" }
port "down" { device = "kernel:b" }
link "edge" {
  network = "up"
  host    = "down"
}
int { udp_port = 5000 }
watch "all" {}
collector "c" { address = "127.0.0.1:8555" }
names {
  file = "testdata/names_of_nodes"
  node "spine1" {
    id         = 201
    interfaces = { 12 = "Eth1/12", "13" = "Eth<1>", 12 = "twice", x = "no number", 14 = 15 }
  }
  node "spine2" { id = 201 }
  node "sp|ine" { id = 203 }
  node "spine4" { interfaces = "Eth1" }
  node "spine5" { }
}
