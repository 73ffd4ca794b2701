# A misspelt attribute is one error, though without it nothing marks INT.
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_prt = 5000 }
watch "all" {}
collector "local" { address = "192.0.2.1:8555" }
