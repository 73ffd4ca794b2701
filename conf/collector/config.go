// Declares Config of collect (listen, spool, kafka, file, clickhouse, ipfix, http), and makes the
// defaults of its blocks.

package collector

import (
	"net/netip"
	"time"

	"intsink/conf"
)

// Config is a whole file. Paths in it are absolute, or relative to the working folder:
// those of the file are relative to the file's folder.
type Config struct {
	Sink         string            // the sinks' configuration, for its blocks int and node_model; "": none
	ReportLayout conf.ReportLayout // "standard" | "2018": of reports of version 1.0
	Listens      []Listen
	Spool        *Spool
	Kafkas       []Kafka
	Files        []File
	ClickHouses  []ClickHouse
	IPFIXes      []IPFIX
	HTTP         HTTP
	Peers        []string // URLs of http.listen of other collectors behind the same addresses
	Log          conf.Log // Format "auto": journal under systemd, text on a terminal, else JSON
	NodeModels   []conf.NodeModel
	Names        conf.Names // for those who read what is stored
	Network      *Network   // the sinks whose page, API and commands this collector has; nil: none
}

// Network is the sinks that one page is over.
type Network struct {
	Sinks     []string      // HOST:PORT of their http.listen; a name stands for all addresses that it resolves to
	TokenFile string        // with a token of all of them; "": none
	Insecure  bool          // the token may go to other machines without TLS
	Timeout   time.Duration // for an answer of one sink
	TLS       *TLS          // nil: http
	History   string        // the block clickhouse whose tables have what is older than the sinks remember; "": none
}

// Listen is one address that reports come to, or messages of Terminators.
type Listen struct {
	Name          string
	Address       string
	Sockets       int
	ReceiveBuffer int64
	Allow         []netip.Prefix
	ExporterLimit int
	Streams       int
	Share         bool // other processes may have the address as well
	IPFIX         *Terminators
}

// Terminators are switches that take IFA out of packets and report it by IPFIX, in data records with three elements.
type Terminators struct {
	Enterprise             int           // private enterprise number of the elements; 0: they are IANA's
	Headers, Stack, Packet int           // ids of the elements: IFA's headers, its metadata stack, the packet without IFA
	Templates              time.Duration // after which one that was not told again is forgotten
}

// Spool is where report packets wait on disk.
type Spool struct {
	Directory string
	Size      int64
	Mode      SpoolMode // SpoolOverflow has no effect any more
	Replay    int       // records a second that an output reads beyond those that come meanwhile; 0: no bound
}

// Kafka is one topic.
type Kafka struct {
	Name        string
	Brokers     []string
	Topic       string
	Format      KafkaFormat
	Key         KafkaKey
	Compression KafkaCompression
	Linger      time.Duration
	Buffer      int64
	TLS         *TLS
	SASL        *SASL
	Registry    *Registry
}

// Registry is where the schema of messages is registered.
type Registry struct {
	URL                string
	User, PasswordFile string
	TLS                *TLS
}

// TLS names PEM files, and the name that the server's certificate must have; "": that of the endpoint.
type TLS struct{ CA, Certificate, Key, ServerName string }

// SASL says who we are.
type SASL struct {
	Mechanism          SASLMechanism
	User, PasswordFile string
}

// File is one file of JSON Lines, standard output or a unix socket.
type File struct {
	Name   string
	Path   string
	Rotate int64
	Keep   int
}

// ClickHouse is one table.
type ClickHouse struct {
	Name         string
	URL          string
	Replicas     []string // more servers with the table, HOST:PORT
	User         string
	PasswordFile string
	Rows         int
	Wait         time.Duration
	Timeout      time.Duration
	TLS          *TLS
}

// IPFIX is one collector of flows.
type IPFIX struct {
	Name       string
	Address    string
	Protocol   IPFIXProtocol
	Message    int64         // bytes at most
	Templates  time.Duration // how often they are sent again over UDP
	Enterprise int           // private enterprise number of fields that no standard has; 0: without them
	TLS        *TLS          // over TCP
}

// HTTP is where metrics, the schema and the page over all sinks are.
type HTTP struct {
	Listen string
	Hosts  []string // names of this machine that clients may ask by
	Series int
	TLS    *conf.TLS    // nil: none
	Tokens []conf.Token // who bears one, or has a certificate of TLS.ClientCA, may read from other machines; none of both: all may
}

func defaultConfig() *Config {
	return &Config{ReportLayout: conf.StandardLayout, HTTP: HTTP{Listen: "127.0.0.1:9466", Series: 10000}, Log: conf.Log{Format: conf.AutoLog, Level: conf.InfoLog}}
}

func defaultListen(int) Listen {
	return Listen{Sockets: 2, ReceiveBuffer: 32 << 20, Streams: 4096}
}

func defaultTerminators() Terminators { return Terminators{Templates: 30 * time.Minute} }

func defaultSpool() Spool { return Spool{Size: 10 << 30, Mode: SpoolAlways, Replay: 100000} }

func defaultKafka(int) Kafka {
	return Kafka{Topic: "intsink.reports.v1", Format: JSONMessages, Key: KeyByFlow, Compression: LZ4, Linger: 10 * time.Millisecond, Buffer: 64 << 20}
}

func defaultFile(int) File { return File{Keep: 5} }

func defaultClickHouse(int) ClickHouse {
	return ClickHouse{Rows: 200000, Wait: 5 * time.Second, Timeout: 30 * time.Second}
}

func defaultNetwork() Network { return Network{Timeout: time.Second} }

func defaultIPFIX(int) IPFIX {
	return IPFIX{Protocol: UDP, Message: 1400, Templates: time.Minute}
}
