port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }
events {
  profile = "dc"
  new_flow { rate = 20000 }              # per second and worker; 0 = no limit
  path_change {
    paths  = 16
    memory = "60s"
    rate   = 10                          # per flow and second; 0 = no limit
    ecmp   = "ignore"                    # ignore | report: a known path coming back
  }
  hop_latency {
    absolute = "10us"
    relative = 0.5
    k        = 2
    n        = 4
    interval = "100ms"                   # at most one per flow and hop; "0s" = no limit
  }
  end_to_end {
    clock    = "none"                    # none | ptp
    absolute = "50us"
    relative = 0.5
    k        = 2
    n        = 4
    interval = "100ms"
  }
  link_latency { absolute = "10us" }     # relative, k, n, interval as above
  congestion {
    raise         = 8000                 # queue occupancy as the wire carries it; 0 = off
    clear         = 4000
    raise_latency = "0s"
    quota         = 1000
    timeout       = "1s"
  }
  tx_utilization {
    raise = 90
    clear = 75
    hold  = "5s"
  }
  refresh {
    every  = "2s"
    jitter = 0.2
  }
  loss {
    window   = 1024
    timeout  = "200ms"
    interval = "1s"
  }
  drop { interval = "1s" }
  hop_limit { rearm = "10s" }
  mtu_exceeded { rearm = "10s" }
}
