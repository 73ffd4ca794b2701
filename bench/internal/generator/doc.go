// Package generator sends frames through a device under test at a given rate,
// over two DPDK ports, and tells what came back and how late.
//
// Each frame carries, in its last bytes, when it was sent. One thread sends and
// receives; it allocates nothing while it runs. What it could not do in time is
// not blamed on the device: after a pause of its own it does not catch up, and
// what it receives first after one is counted in LateReads.
package generator
