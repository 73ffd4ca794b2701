// Package dut runs the devices under test: intsink and, to compare with,
// dpdk-testpmd, each forwarding between the same two virtual devices.
//
//	p, err := dut.StartIntsink(setup, dut.Task{INT: "udp_port = 5000", Watch: true})
//	before, err := p.Read()
//	after, err := p.Read()
//	err = p.Stop()
package dut
