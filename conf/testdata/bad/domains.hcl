port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int {
  udp_port = 5000
  versions = []
  domain "a" {
    id = 5
    instruction "one" {
      bit    = 0
      length = 6
    }
    instruction "two" {
      bit    = 0
      length = 4
      role   = "sequence"
    }
    instruction "three" {
      bit    = 3
      length = 12
      role   = "sequence"
    }
    instruction "three" {
      bit    = 16
      length = 0
      scope  = "source"
    }
  }
  domain "b" {
    id = 5
    instruction "x" {
      bit    = 1
      length = 124
    }
    instruction "y" {
      bit    = 2
      length = 4
    }
  }
  domain "e" {
    id = 6
    instruction "ttl" {
      bit    = 0
      length = 12
      role   = "ttl"
    }
    instruction "hops" {
      bit    = 1
      length = 4
      role   = "ttl"
    }
    instruction "x" {
      bit    = 2
      length = 4
      role   = "tttl"
    }
  }
  domain "c" { id = 0 }
  domain "d" {}
}
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }
