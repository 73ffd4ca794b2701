// Package looptest has the test of a worker whose links C polls, over ports of DPDK: it is not in
// package engine, whose tests run without DPDK.
package looptest
