// AppendProto: writes a record as a protobuf message. generated.go has its fields.

package record

// AppendProto appends r as one message Report of deploy/collect/intsink.proto, with no
// length in front.
func AppendProto(dst []byte, r *Record) []byte {
	b := putReportHead(dst, r)
	switch r.Type {
	case Report:
		b = putReportPlace(b, r)
		b = putReportHeaders(b, r)
		b = putReportReasons(b, r)
		b = putReportPacket(b, r)
		b = putReportTunnel(b, r)
		b = putReportWay(b, r)
		b = putReportContents(b, r)
		b = putReportEpisodes(b, r)
	case Gap:
		b = putReportGap(b, r)
	case Stats:
		b = putReportStats(b, r)
	case EpisodeType:
		b = putReportEpisodes(b, r)
	}
	return b
}

var versionFloats = [...]float32{UnknownVersion: 0, Version05: 0.5, Version10: 1, Version20: 2}
