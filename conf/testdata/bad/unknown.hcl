nodes { id = 3 }
zebra = 1
port = "network"
int {
  udp_prot = 5000
  dscp {
    value = 23
  }
  doman "x" {}
  xyzzy = 1
  vxlan_gpe = { prt = 4790 }
}
report {
  coalesce = { max_bytes = 1400 }
  fragmnt = 3
}
watch "all" {
  mach {}
}
http "web" { listen = "" }
http { listen = "" }
