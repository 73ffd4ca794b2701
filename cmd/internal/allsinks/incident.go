// Incident over all sinks: each that saw the host, flow or node says whether it was the network there; one verdict of all.

package allsinks

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/verdict"
)

// pageKey is the field under which an answer is a document for people, in place of JSON.
const pageKey = "\x00page"

// page is such a document.
type page struct{ format, text string }

// write writes a document, which may load and run nothing: in it stands what sinks said.
func (p *page) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", map[string]string{"text": "text/plain", "html": "text/html"}[p.format]+"; charset=utf-8")
	h.Set("Content-Security-Policy", verdict.Policy)
	fmt.Fprint(w, p.text) // fails where nobody listens any more
}

// incident answers GET /api/v1/incident.
func (s *Sinks) incident(ctx context.Context, r *http.Request) (object, error) {
	parameters := r.URL.Query()
	format := parameters.Get("format")
	parameters.Del("format")
	path := r.URL.Path
	if len(parameters) > 0 {
		path += "?" + parameters.Encode()
	}
	s.knowAll(ctx)
	o, err := s.incidentIn(ctx, path, parameters)
	if err != nil || format == "" || format == "json" {
		return o, err
	}
	if format != "text" && format != "html" {
		return nil, &refusal{http.StatusBadRequest, fmt.Sprintf("format = %.40q: must be json, text or html", format)}
	}
	return object{pageKey: pageOf(o, format)}, nil
}

// incidentIn is the incident of a time, by the sinks, and where they do not remember all of it, by the store.
func (s *Sinks) incidentIn(ctx context.Context, path string, parameters url.Values) (object, error) {
	if s.o.Past != nil && parameters.Get("from") != "" {
		at, _, err := s.spanIn(parameters, "from", "to")
		if err != nil {
			return nil, err
		}
		if s.o.Now().Sub(at.from) > sinksKeep-time.Hour {
			return s.longIncident(ctx, parameters, at)
		}
	}
	q, err := s.askFor(ctx, path, 5*s.o.Timeout)
	if err != nil {
		return nil, err
	}
	return q.once(func(q *question) (object, error) { return s.mergeIncident(q), nil })
}

// saw tells whether a sink knows something of what is asked: flows, of now or before.
func saw(o object) bool {
	c := inner(o, "coverage")
	return amount(c, "flows")+amount(c, "gone") > 0
}

// finds tells whether a sink says that something is, or was, wrong.
func finds(o object) bool {
	v := text(o, "verdict")
	return v != "" && v != verdict.NetworkNormal && v != verdict.CannotSay
}

// mergeIncident makes one verdict: what some sink found decides; that nothing is wrong is said only where every sink that saw something says so,
// and all answered.
func (s *Sinks) mergeIncident(q *question) object {
	answers := q.answers()
	slices.SortStableFunc(answers, func(a, b reply) int { return rank(&a) - rank(&b) })
	first := answers[0]
	out := copyOf(first.o)
	lists := []string{"flows", "paths", "places", "episodes"}
	for _, k := range lists {
		out[k] = []any{}
	}
	why, asked, coverage, lost, problems := []any{}, []any{}, object{}, 0.0, &tellings{}
	var titles []string
	seers := 0
	for _, r := range answers {
		asked = append(asked, object{"sink": r.sink.name, "verdict": r.o["verdict"], "title": r.o["title"]})
		if rank(&r) == notSeen {
			continue
		}
		seers += bit(r.sink.name != pastName)
		if finds(r.o) && !slices.Contains(titles, text(r.o, "title")) {
			titles = append(titles, text(r.o, "title"))
		}
		for _, line := range listOf(r.o, "why") {
			why = append(why, titleOf(r.sink.name)+": "+shown(line))
		}
		for _, k := range lists {
			out[k] = append(out[k].([]any), withSink(r, k)...)
		}
		for _, p := range objects(r.o, "problems") {
			problems.add(tellingOf(p, r.sink))
		}
		for k := range inner(r.o, "coverage") {
			if _, is := number(inner(r.o, "coverage"), k); is {
				coverage[k] = whole(amount(coverage, k) + amount(inner(r.o, "coverage"), k))
			}
		}
		lost += amount(r.o, "lost")
	}
	out["problems"], out["coverage"], out["lost"], out["recorded"], out["asked"] = s.joined(problems), withAll(coverage, first.o), whole(lost), nil, asked
	judge(out, q, titles, seers, why)
	return out
}

// notSeen ranks a sink that saw nothing of what is asked.
const notSeen = 3

// rank puts what is found before what nobody knows, and that before what is normal. The store has to have seen it: its time is nobody else's.
func rank(r *reply) int {
	saw := saw(r.o) || r.sink.name == pastName
	switch {
	case finds(r.o):
		return 0
	case saw && text(r.o, "verdict") == verdict.CannotSay:
		return 1
	case saw:
		return 2
	}
	return notSeen
}

// titleOf is who answers, as a line begins with it.
func titleOf(name string) string {
	if name == pastName {
		return name
	}
	return "sink " + name
}

// judge writes verdict, title and why.
func judge(out object, q *question, titles []string, seers int, why []any) {
	missing := q.partial()
	for _, p := range missing {
		why = append(why, fmt.Sprintf("%s did not answer: %s", titleOf(p.Sink), p.Why))
	}
	switch {
	case len(titles) > 0:
		out["title"] = strings.Join(titles, "; ")
	case len(missing) > 0:
		out["verdict"], out["title"] = verdict.CannotSay, fmt.Sprintf("not all sinks answered: %d of %d did", len(q.replies)-len(missing), len(q.replies))
		delete(out, "at")
	case seers == 0:
		why = listOf(out, "why") // all say the same
	}
	if seers > 0 && len(titles) == 0 && len(missing) == 0 {
		sinks := slices.DeleteFunc(slices.Clone(q.replies), func(r reply) bool { return r.sink.name == pastName })
		why = append(why, fmt.Sprintf("%d of %d sinks saw packets of this", seers, len(sinks)))
	}
	out["why"] = why
}

// withSink are the items of a list of one sink, with its name where they are objects.
func withSink(r reply, name string) []any {
	var all []any
	for _, x := range listOf(r.o, name) {
		if o, is := x.(object); is {
			o = copyOf(o)
			o["sink"] = r.sink.name
			shift(o, -r.sink.identity().ahead, times...)
			x = o
		}
		all = append(all, x)
	}
	return all
}

// withAll has the counts of coverage that a reader expects, 0 where no sink saw anything.
func withAll(coverage, first object) object {
	for k := range inner(first, "coverage") {
		if _, is := number(inner(first, "coverage"), k); is && coverage[k] == nil {
			coverage[k] = whole(0)
		}
	}
	return coverage
}

// pageOf is the incident for people.
func pageOf(o object, format string) *page {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s, %s to %s\n", text(o, "title"), text(o, "about"), text(o, "from"), text(o, "to"))
	for _, line := range listOf(o, "why") {
		fmt.Fprintf(&b, "  %s\n", shown(line))
	}
	b.WriteString("\nsinks that were asked:\n")
	for _, a := range o["asked"].([]any) {
		fmt.Fprintf(&b, "  %s: %s\n", text(a.(object), "sink"), text(a.(object), "title"))
	}
	if format == "text" {
		return &page{format, b.String()}
	}
	_, body, _ := strings.Cut(b.String(), "\n\n") // without the title
	return &page{format, verdict.Page(text(o, "title"), body)}
}
