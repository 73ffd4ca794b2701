// The schema of collect's file: names the attributes of each block, their bounds and words.

package collector

import (
	"time"

	"intsink/conf"
	"intsink/conf/schema"
)

// visit is the schema of the whole file.
func (c *Config) visit(v schema.Visitor) {
	v.Attr("sink", schema.Text(&c.Sink))
	v.Attr("report_layout", schema.Choice(&c.ReportLayout, conf.StandardLayout, conf.Layout2018))
	v.Blocks("listen", schema.Slice(&c.Listens, defaultListen, func(l *Listen) *string { return &l.Name }, visitListen))
	v.Optional("spool", schema.Pointer(&c.Spool, defaultSpool, func(v schema.Visitor, s *Spool) {
		v.Required("directory", schema.Text(&s.Directory))
		v.Attr("size", schema.Size(&s.Size, 16<<20, 1<<50))
		v.Attr("mode", schema.Choice(&s.Mode, SpoolOverflow, SpoolAlways))
		v.Attr("replay", schema.Integer(&s.Replay, 0, 100000000))
	}))
	v.Blocks("kafka", schema.Slice(&c.Kafkas, defaultKafka, func(k *Kafka) *string { return &k.Name }, visitKafka))
	v.Blocks("file", schema.Slice(&c.Files, defaultFile, func(f *File) *string { return &f.Name }, func(v schema.Visitor, f *File) {
		v.Required("path", schema.Text(&f.Path))
		v.Attr("rotate", schema.Size(&f.Rotate, 0, 1<<50))
		v.Attr("keep", schema.Integer(&f.Keep, 0, 1000))
	}))
	v.Blocks("clickhouse", schema.Slice(&c.ClickHouses, defaultClickHouse, func(c *ClickHouse) *string { return &c.Name }, visitClickHouse))
	v.Blocks("ipfix", schema.Slice(&c.IPFIXes, defaultIPFIX, func(i *IPFIX) *string { return &i.Name }, visitIPFIX))
	v.Block("http", &c.HTTP, func(v schema.Visitor) {
		v.Attr("listen", schema.Text(&c.HTTP.Listen))
		v.Attr("hosts", schema.Texts(&c.HTTP.Hosts))
		v.Attr("series", schema.Integer(&c.HTTP.Series, 0, 1000000))
		conf.VisitServerTLS(v, &c.HTTP.TLS)
		v.Blocks("token", schema.Slice(&c.HTTP.Tokens, schema.Zero[conf.Token], func(t *conf.Token) *string { return &t.Name }, func(v schema.Visitor, t *conf.Token) {
			v.Required("sha256", schema.Text(&t.SHA256))
		}))
	})
	v.Attr("peers", schema.Texts(&c.Peers))
	v.Block("log", &c.Log, func(v schema.Visitor) {
		v.Attr("format", schema.Choice(&c.Log.Format, conf.AutoLog, conf.TextLog, conf.JSONLog, conf.JournalLog))
		v.Attr("level", schema.Choice(&c.Log.Level, conf.DebugLog, conf.InfoLog, conf.WarnLog, conf.ErrorLog))
	})
	v.Blocks("node_model", conf.NodeModelBlocks(&c.NodeModels))
	v.Optional("network", schema.Pointer(&c.Network, defaultNetwork, func(v schema.Visitor, n *Network) {
		v.Required("sinks", schema.Texts(&n.Sinks))
		v.Attr("token_file", schema.Text(&n.TokenFile))
		v.Attr("insecure", schema.Boolean(&n.Insecure))
		v.Attr("timeout", schema.Duration(&n.Timeout, 50*time.Millisecond, 10*time.Second))
		v.Attr("history", schema.Text(&n.History))
		v.Optional("tls", schema.Pointer(&n.TLS, func() TLS { return TLS{} }, visitTLS))
	}))
	v.Block("names", &c.Names, func(v schema.Visitor) { conf.VisitNames(v, &c.Names) })
}

func visitListen(v schema.Visitor, l *Listen) {
	v.Required("address", schema.Text(&l.Address))
	v.Attr("sockets", schema.Integer(&l.Sockets, 1, 64))
	v.Attr("receive_buffer", schema.Size(&l.ReceiveBuffer, 64<<10, 1<<30))
	v.Attr("allow", schema.Prefixes(&l.Allow))
	v.Attr("exporter_limit", schema.Integer(&l.ExporterLimit, 0, 100000000))
	v.Attr("streams", schema.Integer(&l.Streams, 1, 1000000))
	v.Attr("share", schema.Boolean(&l.Share))
	v.Optional("ipfix", schema.Pointer(&l.IPFIX, defaultTerminators, func(v schema.Visitor, t *Terminators) {
		v.Required("enterprise", schema.Integer(&t.Enterprise, 0, 1<<32-1))
		v.Required("headers", schema.Integer(&t.Headers, 1, 1<<15-1))
		v.Required("stack", schema.Integer(&t.Stack, 1, 1<<15-1))
		v.Required("packet", schema.Integer(&t.Packet, 1, 1<<15-1))
		v.Attr("templates", schema.Duration(&t.Templates, time.Second, 7*24*time.Hour))
	}))
}

func visitKafka(v schema.Visitor, k *Kafka) {
	v.Required("brokers", schema.Texts(&k.Brokers))
	v.Attr("topic", schema.Text(&k.Topic))
	v.Attr("format", schema.Choice(&k.Format, JSONMessages, ProtobufMessages))
	v.Attr("key", schema.Choice(&k.Key, KeyByFlow, KeyByNode, NoKey))
	v.Attr("compression", schema.Choice(&k.Compression, LZ4, Zstd, NoCompression))
	v.Attr("linger", schema.Duration(&k.Linger, 0, time.Minute))
	v.Attr("buffer", schema.Size(&k.Buffer, 1<<20, 1<<40))
	v.Optional("tls", schema.Pointer(&k.TLS, func() TLS { return TLS{} }, visitTLS))
	v.Optional("sasl", schema.Pointer(&k.SASL, func() SASL { return SASL{} }, func(v schema.Visitor, s *SASL) {
		v.Required("mechanism", schema.Choice(&s.Mechanism, Plain, ScramSHA256, ScramSHA512, OAuthBearer))
		v.Attr("user", schema.Text(&s.User))
		v.Required("password_file", schema.Text(&s.PasswordFile))
	}))
	v.Optional("registry", schema.Pointer(&k.Registry, func() Registry { return Registry{} }, func(v schema.Visitor, r *Registry) {
		v.Required("url", schema.Text(&r.URL))
		v.Attr("user", schema.Text(&r.User))
		v.Attr("password_file", schema.Text(&r.PasswordFile))
		v.Optional("tls", schema.Pointer(&r.TLS, func() TLS { return TLS{} }, visitTLS))
	}))
}

func visitTLS(v schema.Visitor, t *TLS) {
	v.Attr("ca", schema.Text(&t.CA))
	v.Attr("certificate", schema.Text(&t.Certificate))
	v.Attr("key", schema.Text(&t.Key))
	v.Attr("server_name", schema.Text(&t.ServerName))
}

func visitClickHouse(v schema.Visitor, c *ClickHouse) {
	v.Required("url", schema.Text(&c.URL))
	v.Attr("replicas", schema.Texts(&c.Replicas))
	v.Attr("user", schema.Text(&c.User))
	v.Attr("password_file", schema.Text(&c.PasswordFile))
	v.Attr("rows", schema.Integer(&c.Rows, 1, 1000000))
	v.Attr("wait", schema.Duration(&c.Wait, 10*time.Millisecond, time.Hour))
	v.Attr("timeout", schema.Duration(&c.Timeout, 100*time.Millisecond, time.Hour))
	v.Optional("tls", schema.Pointer(&c.TLS, func() TLS { return TLS{} }, visitTLS))
}

func visitIPFIX(v schema.Visitor, i *IPFIX) {
	v.Required("address", schema.Text(&i.Address))
	v.Attr("protocol", schema.Choice(&i.Protocol, UDP, TCP))
	v.Attr("message", schema.Size(&i.Message, 512, 65507))
	v.Attr("templates", schema.Duration(&i.Templates, time.Second, time.Hour))
	v.Attr("enterprise", schema.Integer(&i.Enterprise, 0, 1<<32-1))
	v.Optional("tls", schema.Pointer(&i.TLS, func() TLS { return TLS{} }, visitTLS))
}
