// Config of the Kafka output; makes the client's options of it: TLS, SASL, compression,
// retries.

package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"intsink/exporters/collect"
	"intsink/internal/plainfile"
)

// Config configures one output.
type Config struct {
	Brokers     []string
	Topic       string
	Format      collect.Format
	Key         Key
	Compression Compression
	Linger      time.Duration
	Buffer      int // bytes that the client may hold
	TLS         *TLS
	SASL        *SASL
	Registry    *Registry                     // nil: messages stand as they are
	Log         func(msg string, args ...any) // receives a message when a broker cannot be reached
}

// TLS names PEM files. An empty CA stands for the system's authorities; without Certificate
// and Key the client shows no certificate. ServerName is the name that certificates of brokers must
// have; "": that of the broker.
type TLS = plainfile.ClientTLS

// Key says what makes the key of a message, and so its partition.
type Key string

// By flow (both directions together), by the reporting node, or messages without a key.
const (
	ByFlow Key = "flow"
	ByNode Key = "node"
	NoKey  Key = "none"
)

// Compression says how batches are compressed; any other word: not at all.
type Compression string

// The compressions that consumers of today all read.
const (
	LZ4  Compression = "lz4"
	Zstd Compression = "zstd"
)

// SASL is the login of the client at the brokers.
type SASL struct {
	Mechanism          Mechanism
	User, PasswordFile string
}

// Mechanism is a SASL mechanism of the brokers; any other word: SCRAM-SHA-512.
type Mechanism string

// The mechanisms besides SCRAM-SHA-512.
const (
	Plain       Mechanism = "plain"
	ScramSHA256 Mechanism = "scram-sha-256"
	OAuthBearer Mechanism = "oauthbearer" // the file has a token in place of the password
)

// batchBytes is a batch size that brokers accept by default (message.max.bytes is 1 MiB and some bytes).
const batchBytes = 1_000_000

// options returns the options of a client whose batches have at most so many bytes.
func (c *Config) options(batch int) ([]kgo.Opt, error) {
	opts := []kgo.Opt{
		kgo.ClientID("intsink-collect"),
		kgo.SeedBrokers(c.Brokers...),
		kgo.DefaultProduceTopic(c.Topic),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerLinger(c.Linger),
		kgo.MetadataMinAge(time.Second), // a new topic, or a new leader, is seen within a second
		kgo.ProducerBatchMaxBytes(int32(batch)),
		// Output.Room keeps to Buffer, so that the client never reaches its own limit and blocks.
		kgo.MaxBufferedBytes(c.Buffer + slack),
		kgo.MaxBufferedRecords(1 << 30),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), // murmur2, as Java's client
		kgo.WithHooks(connections{c.Log}),
	}
	switch c.Compression {
	case LZ4:
		opts = append(opts, kgo.ProducerBatchCompression(kgo.Lz4Compression()))
	case Zstd:
		opts = append(opts, kgo.ProducerBatchCompression(kgo.ZstdCompression()))
	default:
		opts = append(opts, kgo.ProducerBatchCompression(kgo.NoCompression()))
	}
	if c.TLS != nil {
		t, err := c.TLS.Config()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.DialTLSConfig(t))
	}
	if c.SASL != nil {
		m, err := c.SASL.mechanism()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.SASL(m))
	}
	return opts, nil
}

// mechanism returns a SASL mechanism that reads the password's file for each connection, so
// that a new password needs no restart.
func (s *SASL) mechanism() (sasl.Mechanism, error) {
	if _, err := s.password(); err != nil {
		return nil, err
	}
	switch s.Mechanism {
	case OAuthBearer:
		return oauth.Oauth(func(context.Context) (oauth.Auth, error) {
			p, err := s.password()
			return oauth.Auth{Token: p}, err
		}), nil
	case Plain:
		return plain.Plain(func(context.Context) (plain.Auth, error) {
			p, err := s.password()
			return plain.Auth{User: s.User, Pass: p}, err
		}), nil
	}
	auth := func(context.Context) (scram.Auth, error) {
		p, err := s.password()
		return scram.Auth{User: s.User, Pass: p}, err
	}
	if s.Mechanism == ScramSHA256 {
		return scram.Sha256(auth), nil
	}
	return scram.Sha512(auth), nil
}

// password returns the first line of the password's file.
func (s *SASL) password() (string, error) {
	b, err := plainfile.Read(s.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("sasl.password_file: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" {
		return "", fmt.Errorf("sasl.password_file: %s is empty", s.PasswordFile)
	}
	return line, nil
}

// connections logs why a broker cannot be reached: a hook of the client.
type connections struct {
	say func(msg string, args ...any)
}

// OnBrokerConnect is called by the client when it has tried to connect and to log in.
func (c connections) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err == nil || errors.Is(err, kgo.ErrClientClosed) || errors.Is(err, context.Canceled) {
		return
	}
	c.say("no connection to the broker; see that it runs, and tls and sasl", "broker", net.JoinHostPort(meta.Host, strconv.Itoa(int(meta.Port))), "err", err)
}
