// Declares the attributes of collect's file that take one of a few words, each a type with
// its values as constants.

package collector

// SpoolMode is spool.mode, which has no effect: all report packets are written to the spool, before an output gets them.
type SpoolMode string

// The values of spool.mode.
const (
	SpoolOverflow SpoolMode = "overflow"
	SpoolAlways   SpoolMode = "always"
)

// KafkaFormat is kafka.format: the encoding of a message.
type KafkaFormat string

// The values of kafka.format.
const (
	JSONMessages     KafkaFormat = "json"
	ProtobufMessages KafkaFormat = "protobuf"
)

// KafkaKey is kafka.key: what makes the key of a message, and so its partition.
type KafkaKey string

// The values of kafka.key.
const (
	KeyByFlow KafkaKey = "flow"
	KeyByNode KafkaKey = "node"
	NoKey     KafkaKey = "none"
)

// KafkaCompression is kafka.compression: how batches are compressed.
type KafkaCompression string

// The values of kafka.compression.
const (
	LZ4           KafkaCompression = "lz4"
	Zstd          KafkaCompression = "zstd"
	NoCompression KafkaCompression = "none"
)

// SASLMechanism is kafka.sasl.mechanism: how collect logs in at the brokers.
type SASLMechanism string

// The values of kafka.sasl.mechanism.
const (
	Plain       SASLMechanism = "plain"
	ScramSHA256 SASLMechanism = "scram-sha-256"
	ScramSHA512 SASLMechanism = "scram-sha-512"
	OAuthBearer SASLMechanism = "oauthbearer" // the file has a token in place of the password
)

// IPFIXProtocol is ipfix.protocol: what messages go over.
type IPFIXProtocol string

// The values of ipfix.protocol.
const (
	UDP IPFIXProtocol = "udp"
	TCP IPFIXProtocol = "tcp"
)
