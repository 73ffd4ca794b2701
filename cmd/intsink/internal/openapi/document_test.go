package openapi

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"os"
	"strings"
	"testing"
)

const below = "cmd/intsink/internal/"

// operation is a request, and what answers it.
type operation struct {
	method, path, summary string
	parameters            []object
	body, answer          object // answer nil: answerKind alone
	answerKind            string // "": application/json
	status                string // "": 200
}

func parameter(name string, schema object, says string) object {
	return object{"name": name, "in": "query", "schema": schema, "description": says}
}

// Kinds of parameters.
var (
	number  = object{"type": "integer", "minimum": 0}
	yes     = object{"type": "boolean"}
	words   = object{"type": "string"}
	moment  = object{"type": "string", "format": "date-time"}
	noneFor = []object(nil)
)

func choice(of ...string) object { return object{"type": "string", "enum": of} }

// paged are the parameters of a list.
func paged(sorts ...string) []object {
	return []object{
		parameter("limit", object{"type": "integer", "minimum": 1, "maximum": 1000}, "size of a page, 100 by default"),
		parameter("cursor", words, "next of the page before"), parameter("sort", choice(sorts...), "the highest first"),
	}
}

func together(lists ...[]object) (all []object) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// page is the schema of a page of items.
func page(item, totals object) object {
	return object{
		"type": "object", "additionalProperties": false, "required": []string{"items", "totals"},
		"properties": object{"items": object{"type": "array", "items": item}, "next": object{"type": "string", "description": "cursor of the next page; absent on the last"}, "totals": totals},
	}
}

// flowParameters select flows.
var flowParameters = []object{
	parameter("watch", words, "of that watch"), parameter("source", words, "address or prefix"), parameter("destination", words, "address or prefix"), parameter("address", words, "either end: address or prefix"),
	parameter("protocol", words, "name or number"), parameter("port", number, "either"), parameter("source_port", number, ""), parameter("destination_port", number, ""),
	parameter("min_latency_ns", number, ""), parameter("min_hop_latency_ns", number, ""), parameter("path", words, "on the path of that id"),
}

// wayParameters select by the way that packets go.
var wayParameters = []object{parameter("node", number, "whose way leads through the node"), parameter("link", words, "right from one node to another: 101-102"), parameter("congested", yes, "with a congested queue on the way")}

var queueParameters = []object{parameter("node", number, ""), parameter("egress", number, "interface"), parameter("queue", number, "")}

// operations are all of /api/v1.
func operations(s *source) []operation {
	of := func(folder, name string) object { return s.refer(below+folder, name) }
	flowapi := func(name string) object { return of("flowapi", name) }
	network := func(name string) object { return of("network", name) }
	list := func(item object, more object) object {
		return object{"type": "object", "additionalProperties": false, "required": []string{"items", "totals"}, "properties": object{"items": object{"type": "array", "items": item}, "totals": more}}
	}
	counts := func(names ...string) object {
		p := object{}
		for _, n := range names {
			p[n] = basic["uint64"]
		}
		return object{"type": "object", "additionalProperties": false, "required": names, "properties": p}
	}
	endpoints := object{"type": "object", "additionalProperties": false, "required": []string{"endpoints"}, "properties": object{"endpoints": object{"type": "array", "items": words}}}
	history := object{"type": "object", "additionalProperties": false, "required": []string{"items"}, "properties": object{"items": object{"type": "array", "items": of("confighistory", "Entry")}}}
	return []operation{
		{method: "get", path: "/", summary: "what there is", answer: endpoints},
		{method: "get", path: "/openapi.json", summary: "this document", answer: object{"type": "object"}},
		{method: "get", path: "/status", summary: "links, ports, collectors, workers: the counters of /metrics in one tree", answer: of("status", "Status")},
		{method: "get", path: "/problems", summary: "what is wrong now, and what was in the last day", answer: s.refer("cmd/internal/problem", "Answer"), parameters: []object{
			parameter("open", yes, "true: those of now, false: those that have ended"), parameter("kind", words, "some, with commas between them"), parameter("since", moment, "those that were wrong then or later"), parameter("limit", number, "1 to 768")}},
		{method: "get", path: "/names", summary: "what the configuration calls nodes, interfaces and hosts", answer: of("names", "Book")},
		{method: "get", path: "/nodes", summary: "nodes that were seen in the last day, those that are gone with them", answer: list(network("nodeItem"), counts("nodes", "left_out"))},
		{method: "get", path: "/nodes/{id}", summary: "one node, with its neighbours", answer: network("nodeDetail")},
		{method: "get", path: "/changes", summary: "which flows went from which path to which, and when", answer: list(network("changeItem"), counts("changes")),
			parameters: []object{parameter("limit", number, "1 to 1000"), parameter("since", moment, "")}},
		{method: "get", path: "/events", summary: "what is reported, as it happens: server-sent events", answerKind: "text/event-stream"},
		{method: "get", path: "/flows", summary: "flows, the first of them in some order", answer: page(flowapi("FlowItem"), flowapi("FlowTotals")), parameters: together(flowParameters, wayParameters, paged("packets", "bytes", "last_seen", "latency", "hop_latency", "lost"))},
		{method: "get", path: "/flows/{id}", summary: "all that is known of one flow", answer: flowapi("FlowDetail")},
		{method: "get", path: "/paths", summary: "paths that flows are on now", answer: page(flowapi("pathTotalItem"), flowapi("pathTotals")), parameters: together([]object{parameter("id", words, ""), parameter("min_latency_ns", number, "")}, wayParameters, paged("flows", "packets", "bytes", "last_seen", "latency"))},
		{method: "get", path: "/paths/{id}", summary: "one of them", answer: flowapi("pathTotalItem")},
		{method: "get", path: "/queues", summary: "queues of nodes, and their congestion", answer: page(flowapi("queueItem"), flowapi("tableTotals")), parameters: together(queueParameters, []object{parameter("congested", yes, ""), parameter("min_occupancy", number, ""), parameter("min_latency_ns", number, "")}, paged("occupancy", "latency", "episodes", "last_seen"))},
		{method: "get", path: "/queues/{id}", summary: "one of them: node, egress interface and queue", answer: flowapi("queueItem")},
		{method: "get", path: "/links", summary: "links between nodes, and their latency", answer: page(flowapi("linkItem"), flowapi("tableTotals")), parameters: together([]object{parameter("node", number, "either end"), parameter("link", words, "101-102"), parameter("min_latency_ns", number, "")}, paged("latency", "last_seen", "clock_skews"))},
		{method: "get", path: "/interfaces", summary: "egress interfaces of nodes, and their utilization", answer: page(flowapi("interfaceItem"), flowapi("tableTotals")), parameters: together([]object{parameter("node", number, ""), parameter("egress", number, ""), parameter("busy", yes, ""), parameter("min_tx_utilization", number, "")}, paged("tx_utilization", "last_seen"))},
		{method: "get", path: "/episodes", summary: "what happened in congested queues", answer: page(flowapi("EpisodeItem"), flowapi("episodeTotals")), parameters: together(queueParameters, []object{parameter("open", yes, "")}, paged("begin", "bytes", "latency"))},
		{method: "get", path: "/incident", summary: "was it the network, for a flow, a host or a node? A verdict, with the numbers", answer: flowapi("Incident"), parameters: []object{
			parameter("flow", words, "A,B: two ends, or an id of /flows"), parameter("host", words, "address"), parameter("node", number, ""), parameter("from", words, "time or how long ago"), parameter("to", words, "likewise"), parameter("compare", words, "how much earlier the time is to compare with: 24h"), parameter("format", words, "json; text or html: a page for people")}},
		{method: "get", path: "/history/{id}", summary: "what queues, hops, segments, paths, links or the sink did, by seconds for ten minutes and by minutes for a day", answer: flowapi("historyAnswer"), parameters: []object{
			parameter("since", words, "how long ago, or a time"), parameter("until", words, "likewise"), parameter("step", words, "1s or 1m")}},
		{method: "get", path: "/config", summary: "the configuration in force, as HCL", answerKind: "text/plain"},
		{method: "get", path: "/config/history", summary: "the last 20 configurations", answer: history},
		{method: "get", path: "/config/diff", summary: "what changed from one of them to another", answer: of("confighistory", "Diff"), parameters: []object{parameter("from", number, "number of a configuration"), parameter("to", number, "the one in force, where it is left out")}},
		{method: "post", path: "/reload", summary: "read the configuration again, or take another one over", body: of("control", "Request"), answer: of("control", "Result")},
		{method: "post", path: "/confirm", summary: "keep what is on trial, a configuration or a program, or go back", body: of("control", "Confirmation"), answer: of("control", "Result")},
		{method: "post", path: "/upgrade", summary: "on the unix socket: run the program beside the sink's own in its place, on trial", body: of("control", "Request"), answer: of("control", "Result")},
		{method: "get", path: "/mode", summary: "how much is done with packets", answer: of("status", "Mode")},
		{method: "post", path: "/mode", summary: "change it", body: of("failopen", "Request"), answer: of("status", "Mode")},
		{method: "get", path: "/mitigations", summary: "rules that drop packets", answer: of("mitigation", "List")},
		{method: "post", path: "/mitigations", summary: "add a rule", body: of("mitigation", "Request"), answer: of("mitigation", "Rule"), status: "201"},
		{method: "get", path: "/mitigations/{id}", summary: "one rule", answer: of("mitigation", "Rule")},
		{method: "delete", path: "/mitigations/{id}", summary: "remove it", answer: of("mitigation", "Rule")},
		{method: "post", path: "/capture", summary: "packets before and after INT is removed, as pcapng", body: of("livecapture", "Request"), answerKind: "application/x-pcapng"},
	}
}

// object returns the operation as OpenAPI has it.
func (o *operation) object(failure object) object {
	ok := object{"description": "done"}
	switch {
	case o.answer != nil:
		ok["content"] = object{"application/json": object{"schema": o.answer}}
	default:
		ok["content"] = object{o.answerKind: object{"schema": words}}
	}
	status := o.status
	if status == "" {
		status = "200"
	}
	x := object{"summary": o.summary, "responses": object{status: ok, "default": object{"description": "why not", "content": object{"application/json": object{"schema": failure}}}}}
	all := append(noneFor, o.parameters...)
	if strings.Contains(o.path, "{id}") {
		all = append(all, object{"name": "id", "in": "path", "required": true, "schema": words})
	}
	if len(all) > 0 {
		x["parameters"] = all
	}
	if o.body != nil {
		x["requestBody"] = object{"content": object{"application/json": object{"schema": o.body}}}
		x["security"] = []any{object{"token": []any{}}}
	}
	if o.method == "delete" {
		x["security"] = []any{object{"token": []any{}}}
	}
	return x
}

// document is the whole document.
func document(t *testing.T) object {
	s := &source{t: t, packages: map[string]map[string]*ast.TypeSpec{}, imports: map[string]map[string]string{}, schemas: object{}}
	failure := s.refer(below+"control", "failure")
	paths := object{}
	for _, o := range operations(s) {
		p, ok := paths[o.path].(object)
		if !ok {
			p = object{}
			paths[o.path] = p
		}
		p[o.method] = o.object(failure)
	}
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "intsink", "version": "1", "license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
			"description": "What a sink knows, and what it can be asked to do. Version 1 only grows: fields, parameters and endpoints are added, none is taken away or gets another meaning."},
		"servers": []any{object{"url": "/api/v1"}}, "paths": paths,
		"components": object{"schemas": s.schemas, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "http { token } with role = \"write\"; on the unix socket none is needed"}}},
	}
}

// TestDocumentIsOfTheTypes: the document is what the Go types and the list of operations say.
func TestDocumentIsOfTheTypes(t *testing.T) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(document(t)); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("INTSINK_UPDATE") != "" {
		if err := os.WriteFile("openapi.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(b.Bytes(), Document) {
		t.Error("openapi.json is not what the types say: INTSINK_UPDATE=1 go test ./cmd/intsink/internal/openapi")
	}
}
