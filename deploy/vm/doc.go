// Package vm tests the Debian packages of this project in a virtual machine that has NICs behind
// an IOMMU, systemd and nothing of this machine: what no namespace shows. `make test-vm` runs it,
// with the tag vm.
//
//	build.sh, boot.sh    the disk, and the machine: QEMU with igb, virtio, e1000e and vmxnet3
//	machine_test.go      commands in it, its monitor, its power
//	traffic_test.go      frames over the other ends of its NICs, compared byte for byte
//	steps_test.go        what an operator does, and what happens to a server, in one order
package vm
