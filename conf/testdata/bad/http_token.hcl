port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "a" { address = "127.0.0.1:8555" }
http {
  listen = ""
  socket = "api.sock"
  tls { certificate = "x" }
  token "prometheus" { sha256 = "xc6976e5b5410415bde908bd4dee15dfb167a9c873fc4bb8a81f6f2ab448a918" }
  token "all" {
    sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    role   = "admin"
  }
}
