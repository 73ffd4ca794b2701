port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "a" { address = "127.0.0.1:8555" }
notify "nothing" {}
notify "scheme" { url = "ftp://hooks.example.net/" }
notify "host" { url = "https:///intsink" }
notify "user" { url = "https://ops:secret@hooks.example.net/" }
notify "port" { url = "https://hooks.example.net:99999/" }
notify "part" { url = "https://hooks.example.net/#intsink" }
notify "open" { url = "http://hooks.example.net/intsink" }
notify "here" {
  url     = "http://127.0.0.1:8080/intsink"
  timeout = "1h"
}
notify "nine" { url = "https://[::1" }
