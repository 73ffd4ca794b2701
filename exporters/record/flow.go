// AppendFlow: a report as a data record of IPFIX, and the fields of its template. One table says both.

package record

import "encoding/binary"

// FlowField is a field of a template of IPFIX (RFC 7011, section 3.2).
type FlowField struct {
	ID, Length uint16
	Own        bool // not of IANA's registry, but under the private enterprise number that the operator names
}

// FlowGroups says which groups of fields a data record has, a bit each. It names a template; 0: the record is none of a flow.
type FlowGroups uint16

// OwnFlowGroups are the groups whose fields have a private enterprise number.
var OwnFlowGroups = func() (own FlowGroups) {
	for bit := range flowGroups {
		if flowGroups[bit].fields[0].Own {
			own |= 1 << bit
		}
	}
	return own
}()

// flowGroup is some fields that are known together, all of IANA's registry or none.
type flowGroup struct {
	fields []FlowField
	known  func(*Record) bool
	put    func([]byte, *Record) []byte
}

var be = binary.BigEndian

// flowGroups has the group of bit i at i, 16 at most. Those of the registry stand in front of all others. Numbers, types and units are those of IANA's registry; 530 to 533 are RFC 9951's.
var flowGroups = [...]flowGroup{
	{[]FlowField{{ID: 152, Length: 8}, {ID: 153, Length: 8}, {ID: 325, Length: 8}, {ID: 1, Length: 8}, {ID: 2, Length: 8}, {ID: 4, Length: 1}, {ID: 5, Length: 1}, {ID: 89, Length: 1}},
		func(*Record) bool { return true }, putPacket},
	{[]FlowField{{ID: 8, Length: 4}, {ID: 12, Length: 4}},
		func(r *Record) bool { return r.Source.Is4() && r.Destination.Is4() },
		func(b []byte, r *Record) []byte {
			src, dst := r.Source.As4(), r.Destination.As4()
			return append(append(b, src[:]...), dst[:]...)
		}},
	{[]FlowField{{ID: 27, Length: 16}, {ID: 28, Length: 16}},
		func(r *Record) bool { return !r.Source.Is4() || !r.Destination.Is4() },
		func(b []byte, r *Record) []byte {
			src, dst := r.Source.As16(), r.Destination.As16()
			return append(append(b, src[:]...), dst[:]...)
		}},
	{[]FlowField{{ID: 7, Length: 2}, {ID: 11, Length: 2}},
		func(r *Record) bool { return r.Has(KnownPorts) },
		func(b []byte, r *Record) []byte {
			return be.AppendUint16(be.AppendUint16(b, r.SourcePort), r.DestinationPort)
		}},
	{[]FlowField{{ID: 6, Length: 1}}, // of two bytes, pmacct reads none (RFC 7125 allows one)
		func(r *Record) bool { return r.Has(KnownTCPFlags) },
		func(b []byte, r *Record) []byte { return append(b, r.TCPFlags) }},
	{[]FlowField{{ID: 58, Length: 2}},
		func(r *Record) bool { return len(r.VLANs) > 0 },
		func(b []byte, r *Record) []byte { return be.AppendUint16(b, r.VLANs[0]) }},
	{[]FlowField{{ID: 10, Length: 4}, {ID: 14, Length: 4}},
		func(r *Record) bool { return r.Sink.Known&(HopIngress|HopEgress) == HopIngress|HopEgress },
		func(b []byte, r *Record) []byte {
			return be.AppendUint32(be.AppendUint32(b, r.Sink.Ingress), r.Sink.Egress)
		}},
	{[]FlowField{{ID: 530, Length: 4}, {ID: 531, Length: 4}, {ID: 532, Length: 4}, {ID: 533, Length: 8}},
		func(r *Record) bool { _, known := r.pathDelay(); return known }, putPathDelay},
	{[]FlowField{{ID: 130, Length: 4}}, // of the sink: a collector of flows sees our address alone
		func(r *Record) bool { return r.Exporter.Is4() },
		func(b []byte, r *Record) []byte {
			exporter := r.Exporter.As4()
			return append(b, exporter[:]...)
		}},
	{[]FlowField{{ID: 131, Length: 16}},
		func(r *Record) bool { return r.Exporter.Is6() },
		func(b []byte, r *Record) []byte {
			exporter := r.Exporter.As16()
			return append(b, exporter[:]...)
		}},
	{[]FlowField{{1, 2, true}},
		func(r *Record) bool { return r.Has(KnownHopCount) },
		func(b []byte, r *Record) []byte { return be.AppendUint16(b, r.HopCount) }},
	{[]FlowField{{2, 8, true}},
		func(r *Record) bool { return r.Has(KnownPath) },
		func(b []byte, r *Record) []byte { return be.AppendUint64(b, r.Path) }},
	{[]FlowField{{3, 8, true}},
		func(r *Record) bool { return r.Has(KnownLatency) },
		func(b []byte, r *Record) []byte { return be.AppendUint64(b, r.LatencyNs) }},
	{[]FlowField{{4, 4, true}},
		func(r *Record) bool { return r.Has(KnownMaxHop) },
		func(b []byte, r *Record) []byte { return be.AppendUint32(b, r.MaxHop) }},
	{[]FlowField{{5, 1, true}}, // numbers as inthdr.Type has them
		func(r *Record) bool { return r.INTType != 0 },
		func(b []byte, r *Record) []byte { return append(b, uint8(r.INTType)) }},
}

// Fields calls yield with each field of the template.
func (g FlowGroups) Fields(yield func(FlowField) bool) {
	for bit := range flowGroups {
		for _, f := range flowGroups[bit].fields {
			if g>>bit&1 != 0 && !yield(f) {
				return
			}
		}
	}
}

// Length returns how many bytes the template's data records have.
func (g FlowGroups) Length() (n int) {
	for bit := range flowGroups {
		if g>>bit&1 != 0 {
			n += groupLengths[bit]
		}
	}
	return n
}

var groupLengths = func() (lengths [len(flowGroups)]int) {
	for bit := range flowGroups {
		for _, f := range flowGroups[bit].fields {
			lengths[bit] += int(f.Length)
		}
	}
	return lengths
}()

// AppendFlow appends a FlowGroups of two bytes, and the data record of that template. Of a record of no flow, it appends 0 alone.
func AppendFlow(dst []byte, r *Record) []byte {
	at := len(dst)
	b := append(dst, 0, 0)
	if r.Type != Report || !r.Has(KnownAddresses) {
		return b
	}
	var groups FlowGroups
	for bit := range flowGroups {
		if g := &flowGroups[bit]; g.known(r) {
			groups |= 1 << bit
			b = g.put(b, r)
		}
	}
	be.PutUint16(b[at:], uint16(groups))
	return b
}

// Values of forwardingStatus.
const (
	statusForwarded = 1 << 6
	statusDropped   = 2 << 6 // for a reason that the number does not tell
)

// putPacket appends what each data record has. The flow is the one packet of the report: it starts and ends at the same time.
func putPacket(b []byte, r *Record) []byte {
	ns := uint64(max(r.Time, 0))
	b = be.AppendUint64(be.AppendUint64(b, ns/1e6), ns/1e6)
	b = be.AppendUint32(b, uint32(ns/1e9+from1900)) // the format of NTP, RFC 7011 section 6.1.10
	b = be.AppendUint32(b, uint32(ns%1e9<<32/1e9))
	b = be.AppendUint64(be.AppendUint64(b, uint64(r.Length)), 1)
	status := byte(statusForwarded)
	if r.TellsDrop() {
		status = statusDropped
	}
	return append(b, r.Protocol, r.DSCP<<2|r.ECN, status)
}

// from1900 is the seconds from 1900 to 1970.
const from1900 = 2208988800

// putPathDelay appends the delay of the one packet: as mean, minimum, maximum and sum.
func putPathDelay(b []byte, r *Record) []byte {
	us, _ := r.pathDelay()
	for range 3 {
		b = be.AppendUint32(b, us)
	}
	return be.AppendUint64(b, uint64(us))
}

// pathDelay returns the microseconds, rounded, from the ingress of the first hop to the egress of the last one: all hops and all links
// between them. It is not known where one of them is not, where hops are missing, or where it is more than 32 bits hold.
func (r *Record) pathDelay() (us uint32, known bool) {
	n := len(r.Hops)
	if n == 0 || !r.Has(KnownLatency|KnownHopCount) || int(r.HopCount) != n || len(r.Links) != n-1 {
		return 0, false
	}
	sum := r.LatencyNs
	for _, l := range r.Links {
		sum += l.LatencyNs
	}
	sum = (sum + 500) / 1000
	return uint32(sum), sum <= 1<<32-1
}
