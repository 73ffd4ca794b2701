listen "reports" {
  address        = "0.0.0.0:8555"
  sockets        = 2
  receive_buffer = "32MiB"
  allow          = ["192.0.2.0/24"]
}
listen "switches" {
  address = "0.0.0.0:4739"
  allow   = ["192.0.2.0/24"]
  ipfix {
    enterprise = 4413
    headers    = 1
    stack      = 2
    packet     = 3
  }
}
spool {
  directory = "/var/lib/intsink-collect"
  size      = "10GiB"
  mode      = "overflow"                 # or "always": written before it is produced
}
kafka "main" {
  brokers     = ["kafka1:9093"]
  topic       = "intsink.reports.v1"
  format      = "json"                   # or "protobuf"
  key         = "flow"                   # flow | node | none
  compression = "lz4"
  linger      = "10ms"
  buffer      = "64MiB"
  tls {
    ca = "ca.pem"                        # certificate, key: mTLS
  }
  sasl {
    mechanism     = "scram-sha-512"      # plain | scram-sha-256 | scram-sha-512
    user          = "intsink"
    password_file = "/etc/intsink/kafka.password"
  }
}
file "archive" { path = "/var/log/intsink/reports.jsonl" }   # rotate, keep; "-" is stdout, "unix:PATH" a socket
clickhouse "small" {
  url      = "https://ch1:8443/?table=int.reports"
  replicas = ["ch2:8443"]
}
ipfix "flows" {
  address    = "192.0.2.20:4739"
  protocol   = "tcp"                   # or "udp"
  message    = "1400B"
  templates  = "1m"
  enterprise = 0
}
http { listen = "127.0.0.1:9466" }
peers = ["http://192.0.2.12:9466"]
log {
  format = "json"
  level  = "warn"
}
node_model "tofino" {
  nodes           = [101, "200-299"]
  queue_unit      = "80 bytes"
  timestamp_bits  = 48
  timestamp_epoch = "none"
}
names {
  hosts = "/nowhere/hosts"
  node "spine2" {
    id         = 202
    interfaces = { 12 = "Eth1/12" }
  }
}
