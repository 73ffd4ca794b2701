// Makes the Kafka, ClickHouse, IPFIX and file outputs of collect's configuration.

package collect

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"slices"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/sinkconf"
	"intsink/conf"
	"intsink/conf/collector"
	files "intsink/deploy/collect"
	"intsink/exporters/clickhouse"
	"intsink/exporters/collect"
	"intsink/exporters/ipfix"
	"intsink/exporters/jsonl"
	"intsink/exporters/kafka"
	"intsink/exporters/record"
	"intsink/internal/plainfile"
)

// spec is one output of the configuration.
type spec struct {
	name   string // "kafka main"
	config any    // to see what a new configuration changes
	files  string // the contents of certificates and keys, for the same: they are read once; a digest
	format collect.Format
	hosts  []string // names, not addresses, that it connects to
	make   func(say func(msg string, args ...any)) (collect.Output, error)
}

// specs lists the outputs.
func specs(c *collector.Config) (all []spec) {
	for i := range c.Kafkas {
		k := c.Kafkas[i]
		s := spec{name: "kafka " + k.Name, config: k, files: contents(k.TLS), hosts: namesIn(k.Brokers...)}
		if k.Registry != nil {
			s.files += contents(k.Registry.TLS)
		}
		if k.Format == collector.ProtobufMessages {
			s.format = collect.Protobuf
		}
		s.make = func(say func(string, ...any)) (collect.Output, error) { return makeKafka(&k, s.format, say) }
		all = append(all, s)
	}
	for i := range c.ClickHouses {
		h := c.ClickHouses[i]
		s := spec{name: "clickhouse " + h.Name, config: h, files: contents(h.TLS), hosts: namesOf(&h)}
		s.make = func(say func(string, ...any)) (collect.Output, error) { return makeClickHouse(&h, say) }
		all = append(all, s)
	}
	for i := range c.IPFIXes {
		x := c.IPFIXes[i]
		s := spec{name: "ipfix " + x.Name, config: x, files: contents(x.TLS), format: collect.Flow, hosts: namesIn(x.Address)}
		s.make = func(func(string, ...any)) (collect.Output, error) {
			secure, err := clientTLS(x.TLS)
			if err != nil {
				return nil, err
			}
			return ipfix.New(ipfix.Config{
				Address: x.Address, Network: string(x.Protocol), Message: int(x.Message), Repeat: x.Templates, Enterprise: uint32(x.Enterprise), TLS: secure,
			}), nil
		}
		all = append(all, s)
	}
	for i := range c.Files {
		f := c.Files[i]
		s := spec{name: "file " + f.Name, config: f}
		s.make = func(func(string, ...any)) (collect.Output, error) {
			return jsonl.New(jsonl.Config{Path: f.Path, Rotate: f.Rotate, Keep: f.Keep, Stdout: os.Stdout}), nil
		}
		all = append(all, s)
	}
	return all
}

// namesIn are the host names among endpoints.
func namesIn(endpoints ...string) (hosts []string) {
	for _, e := range endpoints {
		host, _, _ := net.SplitHostPort(e)
		if _, err := netip.ParseAddr(host); err != nil && host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// namesOf are the host names that a client of ClickHouse looks up; none where a proxy does that.
func namesOf(h *collector.ClickHouse) []string {
	u, err := url.Parse(h.URL)
	if err != nil {
		return nil
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); proxy != nil || err != nil {
		return nil
	}
	return namesIn(append([]string{net.JoinHostPort(u.Hostname(), "")}, h.Replicas...)...)
}

// same reports whether s is as old in all that matters to a running output.
func (s *spec) same(old *spec) bool {
	return old != nil && reflect.DeepEqual(old.config, s.config) && old.files == s.files
}

// contents is a digest of the files of t, as far as they can be read.
func contents(t *collector.TLS) string {
	if t == nil {
		return ""
	}
	h := sha256.New()
	for _, path := range []string{t.CA, t.Certificate, t.Key} {
		b, _ := plainfile.Read(path) // who makes the output says what is wrong with it
		fmt.Fprintf(h, "%d %s", len(b), b)
	}
	return string(h.Sum(nil))
}

func makeKafka(k *collector.Kafka, format collect.Format, say func(msg string, args ...any)) (collect.Output, error) {
	c := kafka.Config{
		Brokers: k.Brokers, Topic: k.Topic, Format: format, Key: kafka.Key(k.Key), Compression: kafka.Compression(k.Compression), Linger: k.Linger, Buffer: int(k.Buffer),
		Log: say,
	}
	if k.TLS != nil {
		c.TLS = &kafka.TLS{CA: k.TLS.CA, Certificate: k.TLS.Certificate, Key: k.TLS.Key, ServerName: k.TLS.ServerName}
	}
	if k.SASL != nil {
		c.SASL = &kafka.SASL{Mechanism: kafka.Mechanism(k.SASL.Mechanism), User: k.SASL.User, PasswordFile: k.SASL.PasswordFile}
	}
	if r := k.Registry; r != nil {
		text, err := files.Files.ReadFile("intsink.proto")
		if err != nil {
			return nil, err
		}
		c.Registry = &kafka.Registry{URL: r.URL, User: r.User, PasswordFile: r.PasswordFile, Schema: string(text)}
		if t := r.TLS; t != nil {
			c.Registry.TLS = &kafka.TLS{CA: t.CA, Certificate: t.Certificate, Key: t.Key, ServerName: t.ServerName}
		}
	}
	return kafka.New(c)
}

func makeClickHouse(h *collector.ClickHouse, say func(msg string, args ...any)) (*clickhouse.Output, error) {
	c := clickhouse.Config{URL: h.URL, Replicas: h.Replicas, User: h.User, PasswordFile: h.PasswordFile, Rows: h.Rows, Wait: h.Wait, Timeout: h.Timeout, Log: say}
	if h.PasswordFile != "" {
		if _, err := plainfile.Read(h.PasswordFile); err != nil {
			return nil, fmt.Errorf("password_file: %w", err)
		}
	}
	var err error
	if c.TLS, err = clientTLS(h.TLS); err != nil {
		return nil, err
	}
	return clickhouse.New(c)
}

// clientTLS is the TLS of a client as a block tls has it; nil where there is none.
func clientTLS(t *collector.TLS) (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	return (&plainfile.ClientTLS{CA: t.CA, Certificate: t.Certificate, Key: t.Key, ServerName: t.ServerName}).Config()
}

// decoderOptions say how the packets in reports are read.
func decoderOptions(c *collector.Config) (o record.Options, err error) {
	models := c.NodeModels
	if c.Sink != "" {
		sink, err := cli.LoadConfigWithoutHosts(c.Sink)
		if err != nil {
			return o, fmt.Errorf("sink: %w", err)
		}
		if err := conf.Apart(models, sink.NodeModels); err != nil {
			return o, fmt.Errorf("node_model: %w; it stands in %s, too: leave it out in one of the two files", err, c.Sink)
		}
		o.INT, o.Layout2018 = sinkconf.Readers(sink), sink.Report.Layout == conf.Layout2018
		models = slices.Concat(models, sink.NodeModels)
	}
	o.Layout2018 = o.Layout2018 || c.ReportLayout == conf.Layout2018
	o.Models, o.Reporters = sinkconf.NodeModels(models), sinkconf.NodeModels(c.NodeModels)
	return o, nil
}
