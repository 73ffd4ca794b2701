http {
  listen = "0.0.0.0:9466"
  token "wall" { sha256 = "abc" }
}
network {
  sinks      = ["http://192.0.2.1:9465", "192.0.2.2:9465", "192.0.2.2:9465", "192.0.2.3"]
  token_file = "sinks.token"
  timeout    = "1ms"
  history    = "stroe"
}
clickhouse "store" {
  url = "http://127.0.0.1:8123/?table=int.reports"
}
