package decode

// Lengths of headers, as package report writes them.
const (
	firstWordLen = 4
	intMainLen   = 8 // RepMdBits, Domain Specific ID, DSMdBits, DSMdstatus
	tlvHeaderLen = 4
	toTheEnd     = 0xff // Report Length: at least 255 words, to the end of the payload

	ethernetLen = 14
	vlanLen     = 4
	ipv4Len     = 20
	ipv6Len     = 40
	udpLen      = 8
	protoUDP    = 17
)

// unknown is a word that the node could not provide.
const unknown = 1<<32 - 1
