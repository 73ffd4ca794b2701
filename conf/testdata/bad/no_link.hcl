port "network" { device = "net_null0" }
int { udp_port = 5000 }
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }
