// Package watch finds the watch that a flow belongs to. Compile turns the watches of a
// configuration into bit vectors, one per field; Watches.First matches a flow's key, and
// the Facts of a packet where some watch asks for what is not in the key: VLAN, DSCP, VNI,
// the packet inside of a tunnel, the devices on the path.
//
//	watch.go    what a watch can ask for
//	compile.go  from that to bit vectors (package classify)
//	match.go    the first watch that selects a packet
//	facts.go    what a packet says beyond its key (deviceids.go, originalheaders.go)
package watch
