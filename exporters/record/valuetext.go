// Writes values of records as text: record id, flow id, hexadecimal, MAC addresses, RFC
// 3339 times.

package record

import (
	"net/netip"
	"sync/atomic"
)

const hexDigits = "0123456789abcdef"

func appendHex(b, bytes []byte) []byte {
	for _, x := range bytes {
		b = append(b, hexDigits[x>>4], hexDigits[x&0xf])
	}
	return b
}

func appendMAC(b []byte, a *[6]byte) []byte {
	for i, x := range a {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, hexDigits[x>>4], hexDigits[x&0xf])
	}
	return b
}

// appendID appends the record's id. It is unique, and copies of one report have the same id:
// node, hw_id, start of the stream, sequence number and place in the packet, in hexadecimal
// digits. In place of the last two, a gap has its first missing number and "gap", a record
// of type stats its time and "stats", an episode its number and "episode".
func (r *Record) appendID(b []byte) []byte {
	if r.Known&KnownNode != 0 {
		b = appendHexNumber(b, uint64(r.NodeID))
	}
	b = appendHexNumber(append(b, '-'), uint64(r.HwID))
	b = appendHexNumber(append(b, '-'), uint64(r.Start))
	b = append(b, '-')
	switch r.Type {
	case Gap:
		return append(appendHexNumber(b, r.First), "-gap"...)
	case Stats:
		return append(appendHexNumber(b, uint64(r.Time)), "-stats"...)
	case EpisodeType:
		if len(r.Episodes) > 0 {
			b = appendHexNumber(b, uint64(r.Episodes[0].ID))
		}
		return append(b, "-episode"...)
	}
	b = appendHexNumber(b, r.Sequence)
	return appendHexNumber(append(b, '-'), uint64(r.Index))
}

// protocolNames has the names of protocols in flow ids; other protocols go by their number.
var protocolNames = [256]string{1: "icmp", 6: "tcp", 17: "udp", 47: "gre", 50: "esp", 51: "ah", 58: "icmpv6", 132: "sctp"}

// hasPorts reports whether the protocol's header starts with two ports.
func hasPorts(protocol uint8) bool {
	switch protocol {
	case 6, 17, 33, 132, 136:
		return true
	}
	return false
}

// hasFlow reports whether all parts of the flow's id are known.
func (r *Record) hasFlow() bool {
	return r.Known&KnownAddresses != 0 && (r.Known&KnownPorts != 0 || !hasPorts(r.Protocol))
}

// AppendFlow appends the id of r's flow in the form of the sink's API, such as
// tcp:10.0.0.1:1024-10.1.0.1:80. It appends nothing if the flow is not known.
func (r *Record) AppendFlow(b []byte) []byte {
	if !r.hasFlow() {
		return b
	}
	h := Headers{Source: r.Source, Destination: r.Destination, SourcePort: r.SourcePort, DestinationPort: r.DestinationPort, Protocol: r.Protocol}
	return h.appendFlow(b)
}

// AppendFlow appends the id of the flow that h belongs to. It appends nothing if that is not known.
func (h *Headers) AppendFlow(b []byte) []byte {
	if !h.Source.IsValid() || !h.HasPorts && hasPorts(h.Protocol) {
		return b
	}
	return h.appendFlow(b)
}

func (h *Headers) appendFlow(b []byte) []byte {
	if name := protocolNames[h.Protocol]; name != "" {
		b = append(b, name...)
	} else {
		b = appendDecimal(b, uint64(h.Protocol))
	}
	b = h.appendEnd(append(b, ':'), h.Source, h.SourcePort)
	return h.appendEnd(append(b, '-'), h.Destination, h.DestinationPort)
}

func (h *Headers) appendEnd(b []byte, a netip.Addr, port uint16) []byte {
	if a.Is6() {
		b = append(appendAddr(append(b, '['), a), ']')
	} else {
		b = appendAddr(b, a)
	}
	if hasPorts(h.Protocol) {
		b = appendDecimal(append(b, ':'), uint64(port))
	}
	return b
}

const (
	second = 1e9
	day    = 86400
)

// dates has the latest day that appendTime wrote, and its date, by the last bits of the day: computing a date takes
// longer than all else. A word is the day after 1970-01-01, the year, month and day of the month.
var dates [8]atomic.Uint64

// appendTime appends Unix nanoseconds ns as RFC 3339 with nine digits of nanoseconds,
// in UTC.
func appendTime(b []byte, ns uint64) []byte {
	s := ns / second
	at := &dates[s/day%uint64(len(dates))]
	d := at.Load()
	if d>>32 != s/day || d == 0 {
		y, month, dayOfMonth := date(s / day)
		d = s/day<<32 | uint64(y)<<16 | uint64(month)<<8 | uint64(dayOfMonth)
		at.Store(d)
	}
	b = append(b, zeroTime...)
	t := (*[len(zeroTime)]byte)(b[len(b)-len(zeroTime):])
	putTwo(t, 0, uint32(d>>16&0xffff)/100)
	putTwo(t, 2, uint32(d>>16&0xffff)%100)
	putTwo(t, 5, uint32(d>>8&0xff))
	putTwo(t, 8, uint32(d&0xff))
	clock, n := uint32(s%day), uint32(ns%second)
	putTwo(t, 11, clock/3600)
	putTwo(t, 14, clock/60%60)
	putTwo(t, 17, clock%60)
	putTwo(t, 20, n/1e7)
	putTwo(t, 22, n/1e5%100)
	putTwo(t, 24, n/1e3%100)
	putTwo(t, 26, n/10%100)
	t[28] = byte('0' + n%10)
	return b
}

const zeroTime = "0000-00-00T00:00:00.000000000Z"

// putTwo writes two decimal digits.
func putTwo(t *[len(zeroTime)]byte, at int, v uint32) {
	t[at], t[at+1] = byte('0'+v/10), byte('0'+v%10)
}

// date returns the Gregorian date of the given day after 1970-01-01. It counts years from
// March on, so that the leap day is the last one; 400 of them have 146097 days.
func date(days uint64) (year, month, dayOfMonth uint) {
	days += 719468 // count from 0000-03-01
	era := days / 146097
	days %= 146097
	y := (days - days/1460 + days/36524 - days/146096) / 365
	days -= 365*y + y/4 - y/100
	m := (5*days + 2) / 153
	dayOfMonth = uint(days-(153*m+2)/5) + 1
	month = uint(m) + 3
	year = uint(y + era*400)
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, dayOfMonth
}
