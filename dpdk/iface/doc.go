// Package iface asks the kernel about its network interfaces, by netlink and
// ethtool, and tells when they change: those that a port is made of.
//
//	s, err := iface.Lookup("eth0")  // index, MTU, MAC, up, carrier
//	w, err := iface.Watch(func(e iface.Event) { ... })
//	defer w.Close()
//
// Errors name the interface and what to do. It needs no privilege, but for SetMTU.
package iface
