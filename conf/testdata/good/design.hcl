node { id = 3 }                          # uint32; also hw_id_base = 0

dpdk {
  lcores    = "1-4"                      # one worker per lcore
  hugepages = "auto"                     # auto | on | off
  mbufs     = 65536
  eal_args  = []
}

port "network" { device = "0000:3b:00.0" }                       # PCI address,
port "host" { device = "net_af_packet0,iface=veth-host" }        # or any DPDK vdev

link "edge" {
  network = "network"
  host    = "host"
}
# tap "span" { port = "network" }

int {                                    # which packets carry INT: any subset; none of these has a default
  udp_port     = 5000
  dscp         = { value = 23, mask = 63 }
  tcp_options  = "after"                 # INT stands after | before the TCP options
  probe_marker = "0x0102030405060708"
  gre_protocol = 34998
  vxlan_gpe    = { port = 4790, next_protocol = 130 }
  geneve       = { port = 6081, option_class = 259 }
  versions     = ["2"]                   # also "1" (INT 1.0) and "0" (the June 2016 format)
  malformed    = "forward"               # forward | drop

  domain "transparent-security" {        # layout of domain specific metadata
    id = 21587
    instruction "device_id" {
      bit    = 0
      length = 8
      scope  = "source-only"
    }
  }
}

flows {
  capacity     = 1048576                 # per worker
  idle_timeout = "30s"
}

watch "all" {                            # first match wins; none matching: strip only. Without a match block: everything
  match {
    destination      = ["10.0.0.0/8"]
    protocol         = "tcp"
    destination_port = ["80", "8000-8099"]
  }
  events = ["new_flow", "path_change", "hop_latency", "congestion", "loss", "drop", "flow_end"]
  sample = 1000                          # besides events, one packet in N; 1 = every packet; 0 = none
}


report {
  version  = "2.0"                       # "2.0" | "1.0" | "0.5"; or profile = "transparent-security"
  metadata = ["interfaces", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp"]   # the sink's own; [] = none
  fragment = 128                         # bytes of the original packet, INT included
  coalesce {
    max_bytes   = 1400                   # the whole frame, Ethernet header to end
    max_reports = 0                      # 0 = as many as fit
    max_delay   = "1ms"
  }
}

collector "primary" { address = "192.0.2.10:8555" }

http { listen = "127.0.0.1:9465" }
