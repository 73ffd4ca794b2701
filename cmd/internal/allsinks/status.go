// Status over all sinks: links, ports, collectors and workers by the name of their sink; and the sinks themselves.

package allsinks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// knowAll has every sink say who it is, where one has not yet.
func (s *Sinks) knowAll(ctx context.Context) {
	if slices.ContainsFunc(s.all(), func(x *sink) bool { return x.identity().node == "" && x.away(s.o.Now()) == nil }) {
		s.ask(ctx, statusPath, s.o.Timeout) // a sink that does not answer stays unknown
	}
}

// status answers GET /api/v1/status: what the sinks' have, with the sink in front of each name.
func (s *Sinks) status(ctx context.Context, _ *http.Request) (object, error) {
	q, err := s.ask(ctx, statusPath, s.o.Timeout)
	if err != nil {
		return nil, err
	}
	return q.once(func(q *question) (object, error) { return s.mergeStatus(q), nil })
}

// named are the lists of a status whose items have names.
var named = []string{"links", "collectors", "workers", "ports", "degraded"}

// added are the objects of a status that hold counters.
var added = []string{"events", "suppressed", "lacking"}

func (s *Sinks) mergeStatus(q *question) object {
	now := s.o.Now()
	out := object{"now": stamp(now), "node": nil, "version": "", "ready": "ok", "socket": "", "mode": nil, "config": nil, "writes": []any{}, "clock_skew": 0, "replaced": false}
	for _, k := range named {
		out[k] = []any{}
	}
	for _, k := range added {
		out[k] = object{}
	}
	started := now
	for _, r := range q.answers() {
		for _, k := range named {
			for _, o := range objects(r.o, k) {
				o = copyOf(o)
				o["name"], o["sink"] = r.sink.name+"/"+text(o, "name"), r.sink.name
				out[k] = append(out[k].([]any), o)
			}
		}
		for _, k := range added {
			addCounts(out[k].(object), inner(r.o, k))
		}
		for _, k := range []string{"mbufs", "mbufs_in_use", "clock_skew"} {
			out[k] = whole(amount(out, k) + amount(r.o, k))
		}
		if mode := inner(r.o, "mode"); text(mode, "mode") != "" && text(mode, "mode") != "full" && out["mode"] == nil {
			mode = copyOf(mode)
			mode["why"] = "sink " + r.sink.name + ": " + text(mode, "why")
			out["mode"] = mode
		}
		if v := text(r.o, "version"); out["version"] == "" {
			out["version"] = v
		}
		if t := r.sink.identity().started; !t.IsZero() && t.Before(started) {
			started = t
		}
		if ready := text(r.o, "ready"); ready != "ok" {
			out["ready"] = "sink " + r.sink.name + ": " + ready
		}
	}
	if n := len(q.partial()); n > 0 {
		out["ready"] = fmt.Sprintf("%d of %d sinks do not answer", n, len(q.replies))
	}
	out["history"] = s.o.Past != nil // what is older than the sinks remember is known
	out["started"], out["sinks"] = stamp(started), s.describe(q)
	return out
}

func addCounts(to, from object) {
	for k := range from {
		to[k] = whole(amount(to, k) + amount(from, k))
	}
}

// list answers GET /api/v1/sinks: every sink with its address, who it is and how it is, and the names that do not resolve.
func (s *Sinks) list(ctx context.Context, _ *http.Request) (object, error) {
	q, err := s.ask(ctx, statusPath, s.o.Timeout)
	if err != nil {
		return nil, err
	}
	o, err := q.once(func(q *question) (object, error) { return s.mergeStatus(q), nil })
	if err != nil {
		return nil, err
	}
	out := object{"items": o["sinks"], "unresolved": s.unresolved()}
	if p := o["partial"]; p != nil {
		out["partial"] = p
	}
	return out, nil
}

// describe has an item for each sink.
func (s *Sinks) describe(q *question) []any {
	items := []any{}
	for _, r := range q.replies {
		id := r.sink.identity()
		o := object{"sink": r.sink.name, "url": r.sink.base + "/ui/", "answers": r.err == nil, "why": nil, "node": nil, "version": id.version, "started": nil, "clock_ahead_ns": id.ahead.Nanoseconds(), "ready": id.ready}
		if id.node != "" {
			o["node"], o["started"] = json.Number(id.node), stamp(id.started)
		}
		if r.err != nil {
			o["why"] = cleanText(r.err.Error())
		}
		flows, received := 0.0, 0.0
		for _, w := range objects(r.o, "workers") {
			flows += amount(w, "flows")
		}
		for _, l := range objects(r.o, "links") {
			for _, d := range objects(l, "directions") {
				received += amount(d, "received")
			}
		}
		o["flows"], o["received"] = whole(flows), whole(received)
		if _, claims := s.twin(r.sink); claims != nil {
			o["same_node_as"] = claims.name
		}
		items = append(items, o)
	}
	return items
}

// stampNs is a time in Unix nanoseconds as the API writes it.
func stampNs(ns int64) string { return stamp(time.Unix(0, ns)) }
