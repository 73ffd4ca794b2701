# /etc/intsink/collect.hcl: for `intsink collect`, beside a sink that has deploy/collect/sink.hcl.
# docs/collect.md describes every attribute.

listen "reports" {
  address = "0.0.0.0:8555"
  allow   = ["127.0.0.0/8", "192.0.2.0/24"]    # your sinks
}

# Where reports wait while an output is away, and what is left when collect stops.
spool {
  directory = "/var/lib/intsink-collect"
  size      = "10GiB"
}

kafka "main" {
  brokers = ["127.0.0.1:9092"]
}

file "archive" {
  path   = "/var/log/intsink/reports.jsonl"
  rotate = "1GiB"
}
