listen "reports" {
  address        = "localhost:18555"
  receive_buffer = "4MB5"
  alow = ["10.0.0.0/8"]
}
spool {
  directory = "spool"
  size      = 100
  mode = "allways"
}
kafka "x" {
  brokers = ["k1"]
  sasl {
    mechanism = "gssapi"
    user = "x"
    password_file = "nowhere"
  }
  tls {
   certificate = "x"
  }
}
clickhouse "y" { url = "http://ch:8123/" }
