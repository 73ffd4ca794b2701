# A first configuration: one link between two Linux interfaces.
# Change what is marked with <==, then: intsink check --config FILE

node { id = 1 } # <== the number of this sink in its reports: another for each sink

# With interfaces of the kernel, the sink runs without hugepages and without binding a NIC.
# For a NIC of its own write its PCI address, "0000:3b:00.0": docs/install.md, Ports.
dpdk {
  hugepages  = "off"
  idle_sleep = "100us" # leave the CPU to others while there is no traffic
}

port "network" { device = "kernel:eth1" } # <== where INT arrives
port "host" { device = "kernel:eth2" }    # <== where the hosts are

link "edge" {
  network = "network"
  host    = "host"
}

int { udp_port = 5000 } # <== how your switches mark packets: docs/configuration.md, int

watch "all" {} # every flow, with the default events

collector "local" { address = "127.0.0.1:8555" } # <== or your collector
