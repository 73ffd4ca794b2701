port "a" { device = "kernel:" }
port "b" { device = "net_af_packet0" }
port "c" { device = "kernel:a-name-that-is-too-long" }
port "d" { device = "kernel:eth0,iface=eth0" }
port "e" { device = "net_af_packet1,iface=eth1,framcnt=4096" }
port "f" { device = "kernel:eth2" }
port "g" { device = "net_af_packet2,iface=eth2,qpairs=2" }
port "h" { device = "eth_af_packet3,iface=a/b" }
dpdk { mbuf_size = 1024 }
