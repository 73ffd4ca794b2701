http {
  listen = "192.0.2.9:9466"
  tls {
    certificate = "/etc/intsink-collect/page.pem"
    key         = "/etc/intsink-collect/page.key"
    client_ca   = "/etc/intsink-collect/readers.pem"
  }
  token "wall" { sha256 = "9b871512327c09ce91dd649b3f96a63b7408ef267c8cc5710114e629730cb61f" }
}
network {
  sinks      = ["192.0.2.1:9465", "sinks.example:9465"]
  token_file = "/etc/intsink-collect/sinks.token"
  timeout    = "500ms"
  history    = "store"
  tls { ca = "/etc/intsink-collect/ca.pem" }
}
names {
  node "spine1" { id = 201 }
}
clickhouse "store" { url = "https://clickhouse.example:8443/?table=int.reports" }
