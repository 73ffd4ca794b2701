package conf

import "testing"

func TestKernelPorts(t *testing.T) {
	for _, c := range []struct {
		device    string
		kernel    bool
		port      KernelPort
		backed    string // the interface below, with whatever driver
		sameAs    string
		different string
	}{
		{device: "kernel:eth0", kernel: true, port: KernelPort{"eth0", 4096}, backed: "eth0", sameAs: "net_af_packet7,iface=eth0"},
		{device: "kernel:veth.100-x_y", kernel: true, port: KernelPort{"veth.100-x_y", 4096}, backed: "veth.100-x_y", different: "kernel:veth.100-x_Y"},
		{device: "net_af_packet0,iface=eth1,qpairs=4,framecnt=512,framesz=2048", kernel: true, port: KernelPort{"eth1", 4096}, backed: "eth1"},
		{device: "eth_af_packet,framecnt=8192,iface=eth1", kernel: true, port: KernelPort{"eth1", 8192}, backed: "eth1", sameAs: "kernel:eth1"},
		{device: "net_pcap0,iface=eth2", backed: "eth2"},
		{device: "net_pcap0,rx_pcap=a.pcap,tx_pcap=b.pcap", sameAs: "NET_PCAP0", different: "net_pcap1"},
		{device: "net_af_xdp0,iface=eth3,start_queue=0", backed: "eth3"},
		{device: "net_tap0,iface=tap5", backed: "tap5"},
		{device: "net_tap0"},
		{device: "net_memif0,iface=eth4"},
		{device: "0000:3b:00.0", sameAs: "3b:00.0,rxq_cqe_comp_en=0"},
	} {
		t.Run(c.device, func(t *testing.T) {
			p := Port{Device: c.device, RxDesc: 1024}
			if k, ok := p.Kernel(); ok != c.kernel || k != c.port && ok {
				t.Errorf("%v, %+v", ok, k)
			}
			if got := p.Interface(); got != c.backed {
				t.Errorf("on interface %q", got)
			}
			if other := (&Port{Device: c.sameAs}).deviceKey(); c.sameAs != "" && other != p.deviceKey() {
				t.Errorf("%q and %q", p.deviceKey(), other)
			}
			if other := (&Port{Device: c.different}).deviceKey(); c.different != "" && other == p.deviceKey() {
				t.Errorf("both %q", other)
			}
		})
	}
}
