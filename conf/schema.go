// visitConfig: the schema of the whole file, with blocks node, dpdk, port, link, tap,
// flows, overload, bypass, http, notify, log; calls those of the other blocks.

package conf

import (
	"time"

	"intsink/conf/schema"
)

// visitConfig is the schema of the whole file. events comes before watch, since
// events_override starts from it.
func visitConfig(v schema.Visitor, c *Config) {
	v.Block("node", &c.Node, func(v schema.Visitor) {
		v.Attr("id", schema.Integer(&c.Node.ID, 0, 1<<32-2)) // all ones are an id that is not known (INT 2.1, 5.8)
		v.Attr("hw_id_base", schema.Integer(&c.Node.HwIDBase, 0, 63))
	})
	v.Block("dpdk", &c.DPDK, func(v schema.Visitor) { visitDPDK(v, &c.DPDK) })
	v.Blocks("port", schema.Slice(&c.Ports, defaultPort, func(p *Port) *string { return &p.Name }, visitPort))
	v.Blocks("link", schema.Slice(&c.Links, schema.Zero[Link], func(l *Link) *string { return &l.Name }, func(v schema.Visitor, l *Link) {
		v.Required("network", schema.Text(&l.Network))
		v.Required("host", schema.Text(&l.Host))
		v.Attr("mitigation", schema.Boolean(&l.Mitigation))
		v.Optional("int", schema.Pointer(&l.INT, defaultINT, visitINTOfLink))
	}))
	v.Blocks("tap", schema.Slice(&c.Taps, schema.Zero[Tap], func(t *Tap) *string { return &t.Name }, func(v schema.Visitor, t *Tap) {
		v.Required("port", schema.Text(&t.Port))
		v.Optional("int", schema.Pointer(&t.INT, defaultINT, visitINTOfLink))
	}))
	v.Block("int", &c.INT, func(v schema.Visitor) { visitINT(v, &c.INT, false) })
	v.Blocks("node_model", NodeModelBlocks(&c.NodeModels))
	v.Block("names", &c.Names, func(v schema.Visitor) { VisitNames(v, &c.Names) })
	v.Block("flows", &c.Flows, func(v schema.Visitor) {
		v.Attr("capacity", schema.Integer(&c.Flows.Capacity, 16, 1<<28))
		v.Attr("idle_timeout", schema.Duration(&c.Flows.IdleTimeout, minIdle, maxTime))
		v.Attr("key", schema.Choice(&c.Flows.Key, OwnKey, InnerKey))
	})
	v.Block("recorder", &c.Recorder, func(v schema.Visitor) { v.Attr("memory", schema.Size(&c.Recorder.Memory, 0, 16<<30)) })
	v.Block("events", &c.Events, func(v schema.Visitor) { visitEvents(v, &c.Events) })
	v.Blocks("watch", schema.Slice(&c.Watches, defaultWatch, func(w *Watch) *string { return &w.Name }, func(v schema.Visitor, w *Watch) {
		visitWatch(v, w, &c.Events)
	}))
	v.Block("report", &c.Report, func(v schema.Visitor) { visitReport(v, &c.Report) })
	v.Blocks("collector", schema.Slice(&c.Collectors, defaultCollector, func(c *Collector) *string { return &c.Name }, visitCollector))
	v.Block("overload", &c.Overload, func(v schema.Visitor) { visitOverload(v, &c.Overload) })
	v.Block("bypass", &c.Bypass, func(v schema.Visitor) { visitBypass(v, &c.Bypass) })
	v.Block("http", &c.HTTP, func(v schema.Visitor) {
		v.Attr("listen", schema.Text(&c.HTTP.Listen))
		v.Attr("socket", schema.Text(&c.HTTP.Socket))
		v.Attr("pprof", schema.Text(&c.HTTP.Pprof))
		v.Attr("hosts", schema.Texts(&c.HTTP.Hosts))
		v.Attr("local_reads", schema.Boolean(&c.HTTP.LocalReads))
		VisitServerTLS(v, &c.HTTP.TLS)
		v.Blocks("token", schema.Slice(&c.HTTP.Tokens, func(int) Token { return Token{Role: "read"} }, func(t *Token) *string { return &t.Name }, func(v schema.Visitor, t *Token) {
			v.Required("sha256", schema.Text(&t.SHA256))
			v.Attr("role", schema.Choice(&t.Role, ReadRole, WriteRole))
		}))
	})
	v.Blocks("notify", schema.Slice(&c.Notify, func(int) Notify { return Notify{Timeout: 5 * time.Second} }, func(n *Notify) *string { return &n.Name }, func(v schema.Visitor, n *Notify) {
		v.Required("url", schema.Text(&n.URL))
		v.Attr("timeout", schema.Duration(&n.Timeout, 100*time.Millisecond, 30*time.Second))
	}))
	v.Block("log", &c.Log, func(v schema.Visitor) {
		v.Attr("format", schema.Choice(&c.Log.Format, AutoLog, TextLog, JSONLog, JournalLog))
		v.Attr("level", schema.Choice(&c.Log.Level, DebugLog, InfoLog, WarnLog, ErrorLog))
	})
}

// VisitServerTLS is the schema of block tls of an HTTP endpoint, in this configuration and others.
func VisitServerTLS(v schema.Visitor, t **TLS) {
	v.Optional("tls", schema.Pointer(t, func() TLS { return TLS{} }, func(v schema.Visitor, t *TLS) {
		v.Required("certificate", schema.Text(&t.Certificate))
		v.Required("key", schema.Text(&t.Key))
		v.Attr("client_ca", schema.Text(&t.ClientCA))
	}))
}

func visitDPDK(v schema.Visitor, d *DPDK) {
	v.Attr("lcores", lcores(&d.Lcores))
	v.Attr("hugepages", schema.Choice(&d.Hugepages, AutoHugepages, WithHugepages, NoHugepages))
	v.Attr("mbufs", schema.Integer(&d.Mbufs, 512, 1<<26))
	v.Attr("mbuf_size", schema.Integer(&d.MbufSize, DefaultMbufSize, 16384))
	v.Attr("idle_sleep", schema.Duration(&d.IdleSleep, 0, maxIdleSleep))
	v.Attr("telemetry", schema.Boolean(&d.Telemetry))
	v.Attr("eal_args", schema.Texts(&d.EALArgs))
}

func visitPort(v schema.Visitor, p *Port) {
	v.Required("device", schema.Text(&p.Device))
	v.Attr("id", schema.Integer(&p.ID, 0, 65534)) // all ones: not known
	v.Attr("rx_desc", schema.PowerOfTwo(&p.RxDesc, 64, 4096))
	v.Attr("tx_desc", schema.PowerOfTwo(&p.TxDesc, 64, 4096))
	v.Attr("mtu", schema.Integer(&p.MTU, 0, 9600))
}

func visitOverload(v schema.Visitor, o *Overload) {
	v.Attr("mode", schema.Choice(&o.Mode, NeverDegrade, DegradeToStrip, DegradeToPass, DegradeToBypass))
	v.Attr("busy", schema.Fraction(&o.Busy, 0, 1))
	v.Attr("poll_gap", schema.Duration(&o.PollGap, 0, 10*time.Second))
	v.Attr("full_bursts", schema.Fraction(&o.FullBursts, 0, 1))
	v.Attr("enter", schema.Duration(&o.Enter, 250*time.Millisecond, time.Hour))
	v.Attr("clear", schema.Duration(&o.Clear, time.Second, time.Hour))
}

func visitBypass(v schema.Visitor, b *Bypass) {
	v.Attr("command", schema.Texts(&b.Command))
	v.Attr("heartbeat", schema.Duration(&b.Heartbeat, 0, time.Minute))
	v.Attr("after", schema.Duration(&b.After, 100*time.Millisecond, time.Minute))
	v.Attr("timeout", schema.Duration(&b.Timeout, 100*time.Millisecond, time.Minute))
}
