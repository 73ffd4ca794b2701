port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" { network = "network"; host = "host" }
int { udp_port = 5000 }
