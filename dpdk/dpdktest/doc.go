// Package dpdktest starts DPDK without hugepages and NICs, for tests, and names
// virtual devices.
//
//	func TestMain(m *testing.M) { dpdktest.Main(m) }
//
//	port, err := ethdev.Attach(dpdktest.Pcap(0, in, out))
//
// Devices are numbered by the test: two that are open at a time need two
// numbers. Packages are tested in processes of their own, so numbers of different
// packages do not meet.
package dpdktest
