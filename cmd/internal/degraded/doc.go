// Package degraded keeps a service running in a wrong world: it knows which parts do not work as the configuration
// asks for, such as an address that is taken or a name that does not resolve, since when and why, and has
// them tried again. DPDK-free: the sink and collect use it.
package degraded
