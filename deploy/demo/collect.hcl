# The collector of make demo-collect, in the sink's namespace beside the broker.
listen "reports" {
  address = "127.0.0.1:8555"
  allow   = ["127.0.0.0/8"]
}
spool {
  directory = "spool"
  size      = "1GiB"
}
kafka "main" { brokers = ["127.0.0.1:9092"] }
http { listen = "127.0.0.1:9466" }
