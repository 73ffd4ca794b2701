// AppendJSON: writes a record as one JSON object. generated.go has its fields.

package record

import (
	"net/netip"
	"strconv"

	"intsink/engine/wire/report"
)

// AppendJSON appends r as one JSON object, without a line feed.
func AppendJSON(dst []byte, r *Record) []byte {
	b := appendReportHead(dst, r)
	switch r.Type {
	case Report:
		b = appendReportPlace(b, r)
		b = appendReportHeaders(b, r)
		b = appendReportReasons(b, r)
		b = appendReportPacket(b, r)
		b = appendReportTunnel(b, r)
		b = appendReportWay(b, r)
		b = appendReportContents(b, r)
		b = appendReportEpisodes(b, r)
	case Gap:
		b = appendReportGap(b, r)
	case Stats:
		b = appendReportStats(b, r)
	case EpisodeType:
		b = appendReportEpisodes(b, r)
	}
	return closeObject(b, len(dst))
}

// AppendJSON appends h as an object.
func (h *Hop) AppendJSON(b []byte) []byte { return appendHop(b, h) }

var versionNumbers = [...]string{Version05: "0.5", Version10: "1", Version20: "2"}

// tlvNames has the names of types of TLVs; reserved ones go by their number.
var tlvNames = [16]string{
	report.TLVDSExtension: "ds_extension", report.TLVEthernet: "ethernet", report.TLVIPv4: "ipv4", report.TLVIPv6: "ipv6",
	4: "4", 5: "5", 6: "6", 7: "7", 8: "8", 9: "9", 10: "10", 11: "11", 12: "12", 13: "13", 14: "14", 15: "15",
}

// appendHexField appends a field of hexadecimal digits if there are any.
func appendHexField(b []byte, name string, bytes []byte) []byte {
	if len(bytes) == 0 {
		return b
	}
	return append(appendHex(append(b, name...), bytes), '"')
}

// closeObject ends the object whose fields, each with a comma in front, begin at b[start]: it
// turns the first comma into the opening brace.
func closeObject(b []byte, start int) []byte {
	if len(b) == start {
		return append(b, "{}"...)
	}
	b[start] = '{'
	return append(b, '}')
}

func appendNumber(b []byte, name string, v uint64) []byte {
	return appendDecimal(append(b, name...), v)
}

func appendBool(b []byte, name string, v bool) []byte {
	return strconv.AppendBool(append(b, name...), v)
}

func appendAddrField(b []byte, name string, a netip.Addr) []byte {
	return append(appendAddr(append(b, name...), a), '"')
}

// appendNames appends, for each bit of set, its name as an element of an array, and ends the
// array.
func appendNames(b []byte, set uint32, names []string) []byte {
	first := true
	for bit, name := range names {
		if set>>bit&1 == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(append(b, '"'), name...), '"')
	}
	return append(b, ']')
}

// appendNumbers appends the elements of an array.
func appendNumbers(b []byte, all []uint16) []byte {
	for i, v := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendDecimal(b, uint64(v))
	}
	return b
}
