// Past: what is older than the sinks remember, out of the tables that collect fills in ClickHouse.

package allsinks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"intsink/engine/series"
	"intsink/exporters/clickhouse"
)

// Past is a store of ClickHouse.
type Past struct {
	Read     func(ctx context.Context, query string) ([]byte, error)
	Database string // of its tables, quoted and with a dot; "": the user's own
}

// pastName is what stands for the store where sinks have their names.
const pastName = "clickhouse"

// rows returns the rows of a query, each as an object. The store is asked the same query once a second at most; others who want its rows get
// those of that time. Where it returns an error, the answer goes without the store, and names it.
func (s *Sinks) rows(ctx context.Context, query string) ([]object, error) {
	q, begin, err := s.questions.find(query, s.o.Now())
	if err != nil {
		return nil, err
	}
	if begin {
		go func() {
			defer close(q.done)
			ctx, cancel := context.WithTimeout(context.Background(), 5*s.o.Timeout)
			defer cancel()
			all, err := s.readPast(ctx, query)
			q.replies = []reply{{o: object{"rows": all}, err: err}}
		}()
	}
	select {
	case <-q.done:
		all, _ := q.replies[0].o["rows"].([]object)
		return all, q.replies[0].err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *Sinks) readPast(ctx context.Context, query string) (all []object, err error) {
	b, err := s.o.Past.Read(ctx, query)
	if err != nil {
		return nil, reason(ctx, err)
	}
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		d.UseNumber()
		var o object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("its answer is no row of a table: %w", err)
		}
		if _, ok := clean(o, 0); !ok {
			return nil, errors.New("its rows are too deep")
		}
		all = append(all, o)
	}
}

// withoutPast names the store among the sinks that an answer is without.
func withoutPast(o object, err error) object {
	if err == nil {
		return o
	}
	missing, _ := o["partial"].([]Partial)
	o["partial"] = append(missing[:len(missing):len(missing)], Partial{pastName, cleanText(err.Error())})
	return o
}

// storeAlone tells whether a question that failed is answered by the store: no sink answers.
func (s *Sinks) storeAlone(failed error) bool { return s.o.Past != nil && errors.Is(failed, errNobody) }

// pastProblems are those that were wrong at since or later, by the sinks' webhooks, and that no sink has told now: each as what a sink answers.
func (s *Sinks) pastProblems(ctx context.Context, since time.Time, now []reply) ([]reply, error) {
	rows, err := s.rows(ctx, clickhouse.ProblemsBetween(s.o.Past.Database, since, s.o.Now().Add(time.Hour), mostItems))
	if err != nil {
		return nil, err
	}
	known, of := map[string]bool{}, map[string]*sink{}
	for _, r := range now {
		id := r.sink.identity().node
		of[id] = r.sink
		for _, o := range objects(r.o, "items") {
			began, _ := when(o, "since")
			known[fmt.Sprint(id, " ", shown(o["id"]), " ", began.UnixMilli())] = true
		}
	}
	by, order := map[*sink][]any{}, []*sink{}
	for _, row := range rows {
		node := shown(row["node"])
		o, err := parse([]byte(text(row, "problem")))
		if err != nil || known[fmt.Sprint(node, " ", shown(o["id"]), " ", shown(row["began"]))] {
			continue
		}
		if o["until"] == nil {
			heard, _ := number(row, "heard")
			o["until"], o["ended"] = stamp(time.UnixMilli(int64(heard))), "not heard of since"
		}
		x := of[node]
		if x == nil {
			x = &sink{name: "node " + node, known: identity{node: node}}
			of[node] = x
		}
		if by[x] == nil {
			order = append(order, x)
		}
		by[x] = append(by[x], o)
	}
	var all []reply
	for _, x := range order {
		all = append(all, reply{sink: x, o: object{"items": by[x]}})
	}
	return all, nil
}

// pastEpisodes are the episodes of a time, as one sink would answer them.
func (s *Sinks) pastEpisodes(ctx context.Context, at span, parameters url.Values) (past reply, err error) {
	past.sink = &sink{name: pastName}
	only, err := sqlNumbers(parameters, map[string]string{"node": "node", "egress": "egress", "queue": "queue"})
	if err != nil {
		return past, err
	}
	rows, err := s.rows(ctx, clickhouse.EpisodesBetween(s.o.Past.Database, at.from, at.to, only, maxLimit))
	if err != nil {
		return past, err
	}
	items := []any{}
	for _, row := range rows {
		o := deepCopy(row).(object) // rows are for all who ask the same
		for from, to := range map[string]string{"begin_ns": "begin", "end_ns": "end", "peak_ns": "peak_at"} {
			ns, err := strconv.ParseInt(text(o, from), 10, 64)
			if o[to] = nil; err == nil {
				o[to] = stampNs(ns)
			}
			delete(o, from)
		}
		o["ended"], o["windows"] = "cleared", []any{}
		noInterface(o, "egress")
		for _, c := range objects(o, "culprits") {
			c["share"] = min(max(amount(c, "bytes")-amount(c, "over"), 0)/max(amount(o, "bytes"), 1), 1)
		}
		items = append(items, o)
	}
	past.o = object{"items": items}
	return past, nil
}

// unknownNumber is what the tables have for a node or interface that is not known.
const unknownNumber = "4294967295"

// noInterface makes null of what the tables have for an interface that is not known.
func noInterface(o object, name string) {
	if shown(o[name]) == unknownNumber {
		o[name] = nil
	}
}

// sqlNumbers are conditions on columns by the parameters of a request that are numbers.
func sqlNumbers(parameters url.Values, columns map[string]string) (sql string, err error) {
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		if v := parameters.Get(name); v != "" {
			n, err := strconv.ParseUint(v, 0, 32)
			if err != nil {
				return "", &refusal{http.StatusBadRequest, fmt.Sprintf("%s = %.40q: must be a number", name, v)}
			}
			sql += fmt.Sprintf(" AND %s = %d", columns[name], n)
		}
	}
	return sql, nil
}

// keptHistories are what the store has by minutes.
var keptHistories = map[string]struct {
	of         clickhouse.Minutes
	value      string            // the field of an item that it is
	parameters map[string]string // of a request, and the columns that they are of
}{
	"queues":   {clickhouse.Queues, "occupancy", map[string]string{"node": "node", "egress": "egress", "queue": "queue"}},
	"hops":     {clickhouse.Hops, "latency_ns", map[string]string{"node": "node", "egress": "egress"}},
	"segments": {clickhouse.Segments, "latency_ns", nil},
}

// sinksKeep is how far back all sinks know their minutes.
const sinksKeep = 25 * time.Hour

// pastHistory is the history of a time, in steps that begin at whole ones, as one sink would answer it.
func (s *Sinks) pastHistory(ctx context.Context, what string, at span, step time.Duration, parameters url.Values) (past reply, err error) {
	past.sink = &sink{name: pastName}
	k, is := keptHistories[what]
	if !is {
		return past, errors.New("it has no history of " + what + ", but of queues, hops and segments")
	}
	only, err := sqlNumbers(parameters, k.parameters)
	if err != nil {
		return past, err
	}
	if l := parameters.Get("link"); l != "" && what == "segments" {
		from, to, _ := strings.Cut(l, "-")
		more, err := sqlNumbers(url.Values{"from": {from}, "to": {to}}, map[string]string{"from": "from_node", "to": "to_node"})
		if err != nil {
			return past, &refusal{http.StatusBadRequest, fmt.Sprintf("link = %.40q: must be two nodes, such as 101-102", l)}
		}
		only += more
	}
	if n, err := strconv.ParseUint(parameters.Get("node"), 0, 32); err == nil && what == "segments" {
		only += fmt.Sprintf(" AND (from_node = %d OR to_node = %d)", n, n)
	}
	seconds := int64(step / time.Second)
	first := at.from.Unix() / seconds
	steps := (at.to.Unix()+seconds-1)/seconds - first
	limit := limitOf(parameters)
	if steps*int64(limit) > series.MostSteps {
		return past, &refusal{http.StatusBadRequest, fmt.Sprintf("these are %d steps of up to %d places: at most %d together, with a longer step or a lower limit", steps, limit, series.MostSteps)}
	}
	rows, err := s.rows(ctx, k.of.Between(s.o.Past.Database, first, steps, seconds, only, limit))
	if err != nil {
		return past, err
	}
	items := []any{}
	for _, row := range rows {
		items = append(items, pastItem(row, k.of.Columns, k.value, steps))
	}
	past.o = object{"begin": stamp(time.Unix(first*seconds, 0)), "step_ns": json.Number(strconv.FormatInt(seconds*1e9, 10)), "steps": json.Number(strconv.FormatInt(steps, 10)),
		"items": items, "totals": object{"rows": len(items), "left_out": 0}}
	return past, nil
}

// pastItem is a place of a history.
func pastItem(row object, columns []string, field string, steps int64) object {
	o := object{"usual": object{}}
	for _, c := range columns {
		o[c] = row[c]
		noInterface(o, c)
	}
	at, value := listOf(row, "steps"), object{}
	for _, name := range []string{"median", "p99", "max"} {
		list, from := make([]any, steps), listOf(row, name)
		for i, n := range at {
			n, ok := n.(json.Number)
			if step, err := n.Int64(); ok && err == nil && step >= 0 && step < steps && i < len(from) {
				if v, ok := from[i].(json.Number); ok {
					f, _ := v.Float64()
					list[step] = whole(math.Round(f))
				}
			}
		}
		value[name] = list
	}
	o[field] = value
	return o
}
