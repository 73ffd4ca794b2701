package packet

import (
	"encoding/hex"
	"testing"
)

func TestOpenUDP(t *testing.T) {
	ports := TunnelPorts{GPE: 4790, Geneve: 7000}
	for _, c := range []struct {
		name   string
		port   uint16
		header string
		want   Tunnel
		ok     bool
	}{
		{"VXLAN", 4789, "0800000000000700", Tunnel{8, EtherTypeEthernet, 7, true}, true},
		{"VXLAN without VNI", 4789, "0000000000000700", Tunnel{8, EtherTypeEthernet, 7, false}, true},
		{"VXLAN on the port of GPE", 4790, "0800000300000700", Tunnel{8, EtherTypeEthernet, 7, true}, true},
		{"GPE, IPv4", 4790, "0c00000100000700", Tunnel{8, EtherTypeIPv4, 7, true}, true},
		{"GPE, IPv6", 4790, "0c00000200000700", Tunnel{8, EtherTypeIPv6, 7, true}, true},
		{"GPE, Ethernet", 4790, "0c00000300000700", Tunnel{8, EtherTypeEthernet, 7, true}, true},
		{"GPE, NSH", 4790, "0c00000400000700", Tunnel{}, false},
		{"Geneve", 7000, "0200655800000700aabbccdd11223344", Tunnel{16, EtherTypeEthernet, 7, true}, true},
		{"Geneve on a port that is not its own", 6081, "0200655800000700", Tunnel{}, false},
		{"Geneve of another version", 7000, "4200655800000700", Tunnel{}, false},
		{"no tunnel", 53, "0800000000000700", Tunnel{}, false},
		{"cut", 4789, "08000000000007", Tunnel{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := hex.DecodeString(c.header)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := ports.OpenUDP(h, c.port)
			if ok != c.ok || ok && got != c.want {
				t.Errorf("%+v, %v; want %+v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

func TestOpenGRE(t *testing.T) {
	for _, c := range []struct {
		name, header string
		want         Tunnel
		ok           bool
	}{
		{"plain", "00000800", Tunnel{HeaderLen: 4, EtherType: EtherTypeIPv4}, true},
		{"checksum, key, sequence", "b00086dd", Tunnel{HeaderLen: 16, EtherType: EtherTypeIPv6}, true},
		{"routing", "40000800", Tunnel{}, false},
		{"version 1 (PPTP)", "0001880b", Tunnel{}, false},
		{"cut", "000008", Tunnel{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := hex.DecodeString(c.header)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := OpenGRE(h); ok != c.ok || ok && got != c.want {
				t.Errorf("%+v, %v; want %+v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}
