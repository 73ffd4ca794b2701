// Package intgen builds packets and puts In-band Network Telemetry into them,
// as an INT source and its transit hops do (INT 2.1, INT 1.0 and the format of June
// 2016). It shares no code with the engine, so that the two check each other.
//
// A Flow makes frames, a Tunnel wraps them, a Source inserts INT:
//
//	frame := flow.Frame(100, 1)
//	frame, err = (&intgen.Tunnel{Encap: intgen.Geneve, Src: a, Dst: b}).Wrap(frame)
//	marked, err := (&intgen.Source{Marking: intgen.ByGeneve, Bitmap: intgen.DefaultBitmap, MaxHops: 8}).Insert(frame, hops)
//
// Random makes one of everything for tests of properties.
//
//	originalframe.go, encapsulate.go, writeip.go  original packets, tunnels around them, checksums
//	source.go, findplace.go                       an INT source; where headers of a frame stand
//	intheader.go, oldformats.go                   headers and hops of INT 2.1; of INT 1.0 and June 2016
//	insertint.go, insert_tunnel.go                INT behind TCP and UDP; in GRE, Geneve, VXLAN-GPE
//	random.go, randomflow.go                      random packets
package intgen
