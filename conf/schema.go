package conf

// visitor walks the schema of one block.
type visitor interface {
	// attr is an attribute that may be omitted.
	attr(name string, v value)
	// required is one that may not.
	required(name string, v value)
	// block is an unlabelled block that stands there at most once; key is a
	// pointer that the checks know it by.
	block(name string, key any, visit func(visitor))
	// optional is one whose absence means something: it exists only when present.
	optional(name string, p optionalBlock)
	// blocks is a labelled block that may be repeated.
	blocks(name string, l blockList)
}

// optionalBlock is a block that may be absent.
type optionalBlock interface {
	exists() bool
	create()
	key() any
	visit(visitor)
}

type pointerBlock[T any] struct {
	p    **T
	init func() T
	fill func(visitor, *T)
}

func (b pointerBlock[T]) exists() bool    { return *b.p != nil }
func (b pointerBlock[T]) create()         { t := b.init(); *b.p = &t }
func (b pointerBlock[T]) key() any        { return *b.p }
func (b pointerBlock[T]) visit(v visitor) { b.fill(v, *b.p) }

// blockList is the slice that a repeated block fills.
type blockList interface {
	resize(n int) // called once, before any element is visited: pointers to elements stay good
	size() int
	key(i int) any
	label(i int) *string
	visit(i int, v visitor)
}

type sliceBlocks[T any] struct {
	list *[]T
	init func(i int) T
	name func(*T) *string
	fill func(visitor, *T)
}

func (b sliceBlocks[T]) resize(n int) {
	if n == 0 {
		*b.list = nil
		return
	}
	*b.list = make([]T, n)
	for i := range *b.list {
		(*b.list)[i] = b.init(i)
	}
}
func (b sliceBlocks[T]) size() int              { return len(*b.list) }
func (b sliceBlocks[T]) key(i int) any          { return &(*b.list)[i] }
func (b sliceBlocks[T]) label(i int) *string    { return b.name(&(*b.list)[i]) }
func (b sliceBlocks[T]) visit(i int, v visitor) { b.fill(v, &(*b.list)[i]) }

// visitConfig is the schema of the whole file. events comes before watch, since
// events_override starts from it.
func visitConfig(v visitor, c *Config) {
	v.block("node", &c.Node, func(v visitor) {
		v.attr("id", integer(&c.Node.ID, 0, 1<<32-1))
		v.attr("hw_id_base", integer(&c.Node.HwIDBase, 0, 63))
	})
	v.block("dpdk", &c.DPDK, func(v visitor) { visitDPDK(v, &c.DPDK) })
	v.blocks("port", sliceBlocks[Port]{&c.Ports, defaultPort, func(p *Port) *string { return &p.Name }, visitPort})
	v.blocks("link", sliceBlocks[Link]{&c.Links, zero[Link], func(l *Link) *string { return &l.Name }, func(v visitor, l *Link) {
		v.required("network", text(&l.Network))
		v.required("host", text(&l.Host))
	}})
	v.blocks("tap", sliceBlocks[Tap]{&c.Taps, zero[Tap], func(t *Tap) *string { return &t.Name }, func(v visitor, t *Tap) {
		v.required("port", text(&t.Port))
	}})
	v.block("int", &c.INT, func(v visitor) { visitINT(v, &c.INT) })
	v.blocks("node_model", sliceBlocks[NodeModel]{&c.NodeModels, defaultNodeModel, func(m *NodeModel) *string { return &m.Name }, visitNodeModel})
	v.block("flows", &c.Flows, func(v visitor) {
		v.attr("capacity", integer(&c.Flows.Capacity, 16, 1<<28))
		v.attr("idle_timeout", duration(&c.Flows.IdleTimeout, minIdle, maxTime))
	})
	v.block("events", &c.Events, func(v visitor) { visitEvents(v, &c.Events) })
	v.blocks("watch", sliceBlocks[Watch]{&c.Watches, defaultWatch, func(w *Watch) *string { return &w.Name }, func(v visitor, w *Watch) {
		visitWatch(v, w, &c.Events)
	}})
	v.block("report", &c.Report, func(v visitor) { visitReport(v, &c.Report) })
	v.blocks("collector", sliceBlocks[Collector]{&c.Collectors, defaultCollector, func(c *Collector) *string { return &c.Name }, visitCollector})
	v.block("http", &c.HTTP, func(v visitor) {
		v.attr("listen", text(&c.HTTP.Listen))
		v.attr("pprof", text(&c.HTTP.Pprof))
	})
	v.block("log", &c.Log, func(v visitor) {
		v.attr("format", choice(&c.Log.Format, "auto", "text", "json", "journal"))
		v.attr("level", choice(&c.Log.Level, "debug", "info", "warn", "error"))
	})
}

func zero[T any](int) (t T) { return t }

func visitDPDK(v visitor, d *DPDK) {
	v.attr("lcores", lcores(&d.Lcores))
	v.attr("hugepages", choice(&d.Hugepages, "auto", "on", "off"))
	v.attr("mbufs", integer(&d.Mbufs, 512, 1<<26))
	v.attr("idle_sleep", duration(&d.IdleSleep, 0, maxIdleSleep))
	v.attr("eal_args", texts(&d.EALArgs))
}

func visitPort(v visitor, p *Port) {
	v.required("device", text(&p.Device))
	v.attr("id", integer(&p.ID, 0, 65535))
	v.attr("rx_desc", powerOfTwo(&p.RxDesc, 64, 4096))
	v.attr("tx_desc", powerOfTwo(&p.TxDesc, 64, 4096))
	v.attr("mtu", integer(&p.MTU, 0, 9600))
}
