// Block node_model, whole: its struct, schema, queue units ("80 bytes"), and checks of
// overlapping nodes.

package conf

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"intsink/conf/schema"
)

// NodeModel says what the values of some nodes mean, which INT leaves to the
// operator.
type NodeModel struct {
	Name           string
	Nodes          []NodeRange   // empty: every node that no other model lists
	LatencyUnit    time.Duration // of hop latency
	QueueUnit      QueueUnit     // of queue occupancy
	BufferUnit     QueueUnit     // of buffer occupancy
	TxFull         uint32        // the utilization of an interface that is full; 0: utilization stays as it is
	TimestampBits  uint8         // of timestamps, that count
	TimestampUnit  time.Duration
	TimestampEpoch TimestampEpoch // "unix" | "none"
}

// NodeRange is a range of node ids.
type NodeRange = schema.Range[uint32]

// QueueUnit is what one unit of occupancy on the wire stands for, such as 80 bytes;
// Size 0: it stands for itself.
type QueueUnit struct {
	Size uint32
	Name string
}

// Limits of node models.
const (
	maxModelNodes = 65536 // ids that all models list, as event.MaxModelNodes
	maxNodeID     = 1<<32 - 2
	maxUnit       = time.Second
	maxQueueUnit  = 65536
	maxOccupancy  = 1<<24 - 1 // on the wire
)

func defaultNodeModel(int) NodeModel {
	return NodeModel{LatencyUnit: 1, TimestampBits: 64, TimestampUnit: 1, TimestampEpoch: UnixEpoch}
}

// NodeModelBlocks are the blocks node_model of a file, in this configuration and others.
func NodeModelBlocks(list *[]NodeModel) schema.BlockList {
	return schema.Slice(list, defaultNodeModel, func(m *NodeModel) *string { return &m.Name }, visitNodeModel)
}

func visitNodeModel(v schema.Visitor, m *NodeModel) {
	v.Attr("nodes", nodeRanges(&m.Nodes))
	v.Attr("latency_unit", schema.Duration(&m.LatencyUnit, 1, maxUnit))
	v.Attr("queue_unit", &queueUnit{&m.QueueUnit})
	v.Attr("buffer_unit", &queueUnit{&m.BufferUnit})
	v.Attr("tx_utilization_full", schema.Integer(&m.TxFull, 0, 1<<32-2))
	v.Attr("timestamp_bits", schema.Integer(&m.TimestampBits, 16, 64))
	v.Attr("timestamp_unit", schema.Duration(&m.TimestampUnit, 1, maxUnit))
	v.Attr("timestamp_epoch", schema.Choice(&m.TimestampEpoch, UnixEpoch, NoEpoch))
}

// nodeRanges is a list of node ids and "first-last" ranges of them.
func nodeRanges(p *[]NodeRange) schema.Value {
	accepted := fmt.Sprintf(`node ids or ranges such as "200-299", from 0 to %d`, maxNodeID)
	return schema.Ranges(p, accepted, 0, maxNodeID, func(x *schema.Expr, r NodeRange) bool {
		if r.Last-r.First >= maxModelNodes {
			return x.Fail("%d nodes; all models together list at most %d: a model without nodes is that of every other node", r.Last-r.First+1, maxModelNodes)
		}
		return true
	})
}

// queueUnit is a string such as "80 bytes".
type queueUnit struct{ p *QueueUnit }

var queueUnits = []string{"bytes", "packets", "cells"}

func (v *queueUnit) Key() any { return v.p }

func (v *queueUnit) Write() (string, bool) { return schema.Quote(v.p.String()), v.p.Size != 0 }

func (u QueueUnit) String() string { return fmt.Sprintf("%d %s", u.Size, u.Name) }

func (v *queueUnit) Read(x *schema.Expr) bool {
	accepted := fmt.Sprintf(`a number from 1 to %d and bytes, packets or cells, such as "80 bytes"`, maxQueueUnit)
	s, ok := x.Text(accepted)
	if !ok {
		return false
	}
	number, name, _ := strings.Cut(strings.TrimSpace(s), " ")
	name = strings.TrimSpace(name)
	n, err := strconv.ParseUint(number, 10, 32)
	switch {
	case err != nil || n < 1 || n > maxQueueUnit:
		return x.Fail("must be %s", accepted)
	case !slices.Contains(queueUnits, name):
		hint := schema.DidYouMean(name, queueUnits, fmt.Sprintf(`"%d %%s"`, n))
		return x.Fail("must be %s%s", accepted, hint)
	}
	*v.p = QueueUnit{uint32(n), name}
	return true
}

// listed is one element of nodes of one model.
type listed struct {
	NodeRange
	model *NodeModel
	i     int // in model.Nodes
	order int // in the file
}

// checkNodeModels checks that no node has two models, and that models agree with the
// thresholds of congestion.
func (d checker) checkNodeModels(c *Config) {
	CheckNodes(d.File, c.NodeModels)
	d.checkQueueUnits(c)
	d.checkEpoch(c)
	d.checkFull(c)
}

// CheckNodes reports to f nodes that stand in more than one of its models.
func CheckNodes(f *schema.File, models []NodeModel) {
	d := checker{f}
	var all []listed
	others, total := "", uint64(0)
	for i := range models {
		m := &models[i]
		switch {
		case len(m.Nodes) > 0 || d.Wrong(&m.Nodes):
		case others != "":
			d.ErrorAt([]any{&m.Nodes, m}, `node_model %q: node_model %q has every other node already; list those of this one, such as nodes = [101, "200-299"]`,
				m.Name, others)
		default:
			others = m.Name
		}
		for j, r := range m.Nodes {
			before := total
			total += uint64(r.Last-r.First) + 1
			if before <= maxModelNodes && total > maxModelNodes {
				d.ErrorAt([]any{schema.ElementOf(&m.Nodes, j)}, "node_model %q: nodes: this makes more than %d nodes in all models: "+
					"leave nodes out in the model that most of them have", m.Name, maxModelNodes)
			}
			all = append(all, listed{r, m, j, len(all)})
		}
	}
	d.checkOverlaps(all)
}

// Apart is nil where no node stands in both lists of models, and names one that does.
func Apart(a, b []NodeModel) error {
	for i := range a {
		for j := range b {
			if len(a[i].Nodes)+len(b[j].Nodes) == 0 {
				return fmt.Errorf("the model of every other node, %q", a[i].Name)
			}
			for _, x := range a[i].Nodes {
				for _, y := range b[j].Nodes {
					if n := max(x.First, y.First); n <= min(x.Last, y.Last) {
						return fmt.Errorf("node %d of %q", n, a[i].Name)
					}
				}
			}
		}
	}
	return nil
}

// checkOverlaps reports elements that have a node which another has too.
func (d checker) checkOverlaps(all []listed) {
	slices.SortFunc(all, func(a, b listed) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.order, b.order)) })
	for i := range all {
		if i == 0 {
			continue
		}
		a, b := all[i-1], all[i]
		if b.First <= a.Last {
			d.overlap(a, b)
		}
		if a.Last > b.Last {
			all[i] = a // it goes on behind b
		}
	}
}

// overlap reports the later of a and b; a begins no later than b.
func (d checker) overlap(a, b listed) {
	first, later := a, b
	if b.order < a.order {
		first, later = b, a
	}
	hint := "leave it out here"
	switch {
	case later.Last > first.Last && later.First >= first.First:
		hint = fmt.Sprintf("did you mean %q?", NodeRange{First: first.Last + 1, Last: later.Last})
	case later.First < first.First && later.Last <= first.Last:
		hint = fmt.Sprintf("did you mean %q?", NodeRange{First: later.First, Last: first.First - 1})
	case later.First < first.First:
		hint = fmt.Sprintf("did you mean %q, %q?", NodeRange{First: later.First, Last: first.First - 1}, NodeRange{First: first.Last + 1, Last: later.Last})
	}
	d.ErrorAt([]any{schema.ElementOf(&later.model.Nodes, later.i)}, "node_model %q: nodes: %d stands in %q of node_model %q too, and a node has one model; %s",
		later.model.Name, b.First, first.NodeRange, first.model.Name, hint)
}

// checkQueueUnits: congestion has one threshold, which models must agree upon.
func (d checker) checkQueueUnits(c *Config) {
	most, unit, first := uint64(maxOccupancy), (*QueueUnit)(nil), (*NodeModel)(nil)
	for i := range c.NodeModels {
		m := &c.NodeModels[i]
		for _, x := range []struct {
			what string
			unit *QueueUnit
		}{{"queues", &m.QueueUnit}, {"buffers", &m.BufferUnit}} {
			if x.unit.Size == 0 {
				continue
			}
			most = max(most, min(maxOccupancy*uint64(x.unit.Size), 1<<32-2))
			if unit == nil {
				unit, first = x.unit, m
			} else if x.unit.Name != unit.Name {
				d.WarnAt([]any{x.unit}, "node_model %q: %s are in %s here, and in %s in node_model %q: congestion compares both with the same raise and clear",
					m.Name, x.what, x.unit.Name, unit.Name, first.Name)
			}
		}
	}
	d.checkRaise(&c.Events, most, "events")
	for i := range c.Watches {
		if w := &c.Watches[i]; w.Override != nil {
			d.checkRaise(w.Override, most, fmt.Sprintf("watch %q: events_override", w.Name))
		}
	}
}

func (d checker) checkRaise(e *Events, most uint64, where string) {
	if raise := &e.Congestion.Raise; d.Has(raise) && *raise != AutoRaise && uint64(*raise) > most {
		d.ErrorAt([]any{raise}, "%s: congestion: raise = %d: no queue can be so long: its occupancy has 24 bits, at most %d with the node_model blocks there are",
			where, *raise, most)
	}
}

// checkEpoch: the clock of end_to_end needs timestamps that count from 1970 on.
func (d checker) checkEpoch(c *Config) {
	none := (*NodeModel)(nil)
	for i := range c.NodeModels {
		m := &c.NodeModels[i]
		switch {
		case m.TimestampEpoch != NoEpoch:
			return
		case len(m.Nodes) == 0:
			none = m
		}
	}
	if none != nil && c.Events.EndToEnd.Clock == PTPClock {
		d.WarnAt([]any{&none.TimestampEpoch, none}, `node_model %q: timestamp_epoch = "none" for every node: `+
			`events { end_to_end { clock = "ptp" } } compares nothing`,
			none.Name)
	}
}

// checkLoads: a watch that asks for utilization by what is full needs a model that says what that is.
func (d checker) checkLoads(c *Config) {
	for i := range c.Watches {
		w, e := &c.Watches[i], &c.Events
		if w.Override != nil {
			e = w.Override
		}
		if e.TxUtilization.Raise == AutoRaise && d.Has(&w.Events) && slices.Contains(w.Events, "tx_utilization") && !slices.Equal(w.Events, w.defaultEvents(c)) {
			d.WarnAt([]any{&w.Events}, `watch %q: tx_utilization tells nothing: no node_model has tx_utilization_full, what nodes write for an interface that is full `+
				`(100 where they write per cent); or give events { tx_utilization { raise } } a number, as the wire has it`, w.Name)
		}
	}
}

// checkFull: where utilization is in per cent, few thresholds make sense.
func (d checker) checkFull(c *Config) {
	model := slices.IndexFunc(c.NodeModels, func(m NodeModel) bool { return m.TxFull != 0 })
	if model < 0 {
		d.checkLoads(c)
		return
	}
	check := func(e *Events, where string) {
		if raise := &e.TxUtilization.Raise; d.Has(raise) && *raise > 100 && *raise != AutoRaise {
			d.WarnAt([]any{raise}, "%s: tx_utilization: raise = %d: node_model %q has tx_utilization_full, so that its nodes are compared in per cent: none reaches it",
				where, *raise, c.NodeModels[model].Name)
		}
	}
	check(&c.Events, "events")
	for i := range c.Watches {
		if w := &c.Watches[i]; w.Override != nil {
			check(w.Override, fmt.Sprintf("watch %q: events_override", w.Name))
		}
	}
}

// TimestampEpoch is node_model.timestamp_epoch: what timestamps of a node count from.
type TimestampEpoch string

// The values of node_model.timestamp_epoch.
const (
	UnixEpoch TimestampEpoch = "unix"
	NoEpoch   TimestampEpoch = "none"
)
