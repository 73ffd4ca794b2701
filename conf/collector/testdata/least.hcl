listen "reports" { address = "127.0.0.1:8555" }
file "out" { path = "-" }
