listen "a" { address = "127.0.0.1:8555" }
listen "b" { address = "127.0.0.1:8555" }
listen "a" { address = "8555" }
file "x" { path = "out.jsonl" }
file "y" { path = "out.jsonl" }
file "z" {
  path   = "-"
  rotate = "1MiB"
}
file "u" { path = "unix:" }
kafka "k" {
  brokers = []
  topic   = "no spaces please"
}
clickhouse "c" {
  url = "http://user:secret@ch:8123/?table=t"
  tls { ca = "x" }
}
clickhouse "d" { url = "ch:8123" }
node_model "p" { nodes = [1, "5-9"] }
node_model "q" { nodes = "7-12" }
