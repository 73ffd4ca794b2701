# Every attribute. What is not commented out has its default as its value, save
# names, ports, the collector and the one marking of INT that is needed. Lines
# that begin with "#" show attributes that have no default. What they mean:
# docs/configuration.md.

node {
  id         = 0
  hw_id_base = 0
}

dpdk {
  # lcores   = "1-4"     # default: one worker, on the last CPU
  hugepages  = "auto"    # auto | on | off
  mbufs      = 65536
  mbuf_size  = 2048
  idle_sleep = "0s"
  telemetry  = false
  eal_args   = []
}

port "network" {
  device  = "net_null0,no-rx=1"
  id      = 1            # default: the place in the file, from 1
  rx_desc = 1024
  tx_desc = 1024
  mtu     = 0            # 0: leave the driver's
}

port "host" {
  device  = "net_null1,no-rx=1"
  id      = 2
  rx_desc = 1024
  tx_desc = 1024
  mtu     = 0
}

link "edge" {
  network    = "network"
  host       = "host"
  mitigation = false
  # int {                # in place of block int below, for this link; a tap may have one, too
  #   udp_port = 5001
  # }
}

# tap "span" { port = "span" }

int {
  udp_port       = 5000  # one of the markings is needed, none has a default
  # dscp         = { value = 23, mask = 63, restore = 0 } # or a list of such; without restore: without the mask's bits
  tcp_options    = "after" # after | before
  # probe_marker = "0x0102030405060708"
  probe_ports    = []    # [] = every port
  # gre_protocol = 34998
  # vxlan_gpe    = { port = 4790, next_protocol = 130 }
  # geneve       = { port = 6081, option_class = 259 }
  versions       = ["2"] # also "1" and "0"
  int1_dialect   = "standard" # standard | geant
  types          = ["md", "mx", "destination"]
  shim_length    = "exclusive" # exclusive | inclusive
  checksum       = "update" # update | keep
  malformed      = "forward" # forward | drop
  leak           = "forward" # forward | strip | drop: INT that hosts send
  leak_mark      = "clear" # clear | drop | forward: the mark of INT on packets of hosts that have none
  layer          = "all"  # all | outer
  fragments      = "pass" # pass | strip
  verify         = 0      # 65536: one INT packet in so many has its checksums verified; 0: none

  # ifa {                # IFA 2.0: what most switches on sale write
  #   protocol      = 253     # of IP; or a list
  #   marker        = "0xaaaaaaaabbbbbbbb" # that of IFA 1.0, whose packets are copies; none: not looked for
  #   copies        = "drop"  # drop | strip: packets with I = 0; no default
  #   max_residence = "1s"    # a longer residence time is unknown
  #   hop "mine" {            # a layout besides Broadcom's
  #     gns    = 15
  #     lns    = 2            # without it: all that have no layout of their own
  #     fields = ["lns:4", "device_id:20", "ttl:8", "residence_time:32"]
  #   }
  # }

  # ioam {               # IOAM (RFC 9197) in IPv6, which Linux writes
  #   namespace     = 123     # or a list
  #   clock         = "posix" # posix | ptp | ntp: what nodes write as fractions of seconds
  #   decapsulate   = ["2001:db8::1"] # tunnels with IOAM to these addresses end here; none: they stay
  #   flow_sequence = false   # edge-to-edge options number the packets of each flow
  # }

  # match {              # packets that may carry INT; without it: all
  #   vlan   = [10, "100-199"] # 0: untagged
  #   prefix = ["10.0.0.0/8"]  # of source or destination
  # }

  # domain "transparent-security" {
  #   id = 21587
  #   instruction "device_id" {
  #     bit    = 0
  #     length = 8
  #     scope  = "source-only" # hop | source-only | source-inserted
  #     role   = "device_id"   # "" | opaque | device_id | sequence
  #   }
  # }
}

# node_model "switches" { # what nodes mean by their values; without one they are as below
#   nodes           = [101, "200-299"] # default: every node that no other model lists
#   latency_unit    = "1ns"
#   queue_unit      = "80 bytes" # default: congestion is compared with what the wire has
#   timestamp_bits  = 64
#   timestamp_unit  = "1ns"
#   timestamp_epoch = "unix" # unix | none
#
#   buffer_unit         = "80 bytes" # the same of the buffer's occupancy
#   tx_utilization_full = 0          # what an interface that is full has as its utilization, such as 10000: that is 100 per cent; 0: as it is
# }

names { # in place of numbers and addresses, for people
  file  = "" # of more names, that several sinks and collectors share
  hosts = "" # a file as /etc/hosts
  # node "spine2" {
  #   id         = 202
  #   interfaces = { 12 = "Eth1/12" }
  # }
}

flows {
  capacity     = 1048576
  idle_timeout = "30s"
  key          = "own"   # own | inner: flows in tunnels are told apart by what is inside, and by VNI
}

recorder {
  memory = "64MiB"       # of each worker, for the packets that were reported last; 0: none
}

events {
  profile = "dc"         # dc | wan
  new_flow {
    rate          = 20000
    after_restart = "10s" # none is reported for so long where the sink ran a moment ago
  }
  path_change {
    paths  = 16
    memory = "60s"
    rate   = 10
    ecmp   = "ignore"    # ignore | report
  }
  hop_latency {
    absolute = "10us"
    relative = 0.5
    k        = 2
    n        = 4
    interval = "100ms"
  }
  end_to_end {
    clock        = "none" # none | ptp
    clock_offset = "0s"
    absolute     = "50us"
    relative     = 0.5
    k            = 2
    n            = 4
    interval     = "100ms"
  }
  link_latency {
    absolute = "auto" # by what is usual; or a duration, with relative, k and n
    relative = 0.5
    k        = 2
    n        = 4
    interval = "1s"
  }
  congestion {
    raise         = "auto" # factor times what is usual in a queue; or an occupancy; 0: off
    clear         = 0      # default: half of raise, where that is a number
    factor        = 8
    raise_latency = "100us" # the least with "auto"; default "0s" where raise is a number
    quota         = 32
    timeout       = "1s"
  }
  tx_utilization {
    raise = "auto" # 90 per cent, by samples of nodes with tx_utilization_full; or a number
    clear = 75
    hold  = "5s"
  }
  refresh {
    every  = "60s"
    jitter = 0.2
    most   = "900s" # longest time between refreshes of a flow without news
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

watch "all" {
  # match {              # without it: everything
  #   source           = ["10.0.0.0/8"]
  #   destination      = ["10.0.0.0/8", "2001:db8::/32"]
  #   protocol         = ["tcp", "udp"]
  #   source_port      = ["1024-65535"]
  #   destination_port = [80, "8000-8099"]
  #   flow             = "any"    # any | outer | inner: whose headers these are, where there are tunnels
  #   vlan             = [10, "100-199"]
  #   dscp             = [0, 46]
  #   vni              = [5000, "6000-6999"]
  #   device           = [101, "0x020000000001"] # node ids on the way, ids in domain specific metadata
  #   link             = ["edge"]    # links and taps that packets come by
  #   port             = ["network"] # and ports
  # }
  events = ["new_flow", "path_change", "hop_latency", "end_to_end", "link_latency", "congestion", "tx_utilization",
    "refresh", "flow_end", "loss", "drop", "hop_limit", "mtu_exceeded", "malformed", "leak", "unknown_domain"]
  sample     = 0
  sample_by  = "packet"  # packet | flow
  collectors = ["primary"] # default: all
  # events_override {    # of the same shape as events
  #   hop_latency { absolute = "5us" }
  # }
}

report {
  version  = "2.0"
  layout   = "standard" # standard | 2018: of version 1.0
  profile  = ""
  metadata = ["interfaces", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp"]
  fragment      = "int" # "int": headers and all INT, at least 128 bytes; or a number of bytes
  fragment_ipv6 = 0     # bytes of IPv6 packets; 0: as of others
  inner    = "ip"        # ip | ethernet
  explain  = false
  domain   = 0            # Domain Specific ID of all reports, for the template of the explanation; 0: that of the packet
  coalesce {
    max_bytes   = 1400
    max_reports = 0
    max_delay   = "1ms"
  }
}

collector "primary" {
  address       = "192.0.2.10:8555"
  # source      = "192.0.2.1"
  # source_port = "hash" # or a number; without it the kernel chooses
  dscp          = 0      # of report packets
  ttl           = 64     # the hop limit of IPv6, too
  # port        = "telemetry" # reports leave by this DPDK port, as whole frames
  # gateway     = "192.0.2.254" # with port; default: the collector itself
  # gateway_mac = "02:00:5e:00:53:01" # with port; default: it is asked for
  # vlan        = 100    # with port; default: no tag
  budget {
    packets = 0          # per second; 0: no limit
    reports = 0          # however many share a packet
    bits    = 0
    burst   = "100ms"
  }
}

overload {
  mode        = "off"    # off | strip | pass | bypass: how far the load of the workers may lead
  busy        = 0.98     # share of a worker's time; 0: not looked at
  poll_gap    = "0s"     # longest time between two polls; "0s": not looked at
  full_bursts = 0.9      # share of polls that found a full burst; 0: not looked at
  enter       = "2s"     # at a limit for so long: the next step
  clear       = "10s"    # far below all for so long: the step before
}

bypass {
  command   = []         # such as ["/usr/local/sbin/bypass-switch", "eth0"]; []: there is no switch
  heartbeat = "0s"       # how often the command is run with "heartbeat"; "0s": never
  after     = "1s"       # without a poll of a worker: bypass
  timeout   = "5s"       # of the command
}

http {
  listen = "127.0.0.1:9465"
  socket = "auto"        # where changes are taken; a path such as "/run/intsink/api.sock"; "": nowhere
  pprof  = ""            # such as "127.0.0.1:6060": Go's profiles; "": off
  hosts  = []            # such as ["sink7.example.net"]: names that clients may ask by without TLS
  local_reads = true     # false: who asks over TCP from this machine needs a token, too
  # tls {
  #   certificate = "/etc/intsink/tls/sink.pem"
  #   key         = "/etc/intsink/tls/sink.key"
  #   client_ca   = "/etc/intsink/tls/clients.pem" # whose clients may write
  # }
  # token "ci" {
  #   sha256 = "8c6976e5b5410415bde908bd4dee15dfb167a9c873fc4bb8a81f6f2ab448a918" # of the token
  #   role   = "write"     # read | write
  # }
}

# notify "ops" {           # is told what begins and ends to be wrong
#   url     = "https://hooks.example.net/intsink"
#   timeout = "5s"         # of one request
# }

log {
  format = "auto"        # auto | text | json | journal
  level  = "info"        # debug | info | warn | error
}
