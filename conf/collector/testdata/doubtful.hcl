listen "reports" { address = "0.0.0.0:8555" }
kafka "main" {
  brokers = ["kafka1:9092"]
  sasl {
    mechanism     = "plain"
    user          = "intsink"
    password_file = "/nonexistent/password"
  }
}
clickhouse "c" {
  url           = "http://ch:8123/?table=t"
  password_file = "/nonexistent/password"
}
http { listen = "0.0.0.0:9466" }
