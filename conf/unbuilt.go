package conf

// unbuilt is everything that the configuration accepts and this version does
// not act on yet: one of these places gives one warning per feature, unless it
// says what is the default anyway, as all of a dump does. A place is the path of an
// attribute or block, without labels; "=" asks for one value of it, in a list for
// an element of watch.events. Delete the line of what has been built.
var unbuilt = map[string]string{
	"report.explain=true": "report.explain",
	"collector.budget":    "the collector budget",

	"watch.events=end_to_end":     "the event end_to_end",
	"watch.events=link_latency":   "the event link_latency",
	"watch.events=congestion":     "the event congestion",
	"watch.events=tx_utilization": "the event tx_utilization",
	"watch.events=loss":           "the event loss",
	"watch.events=drop":           "the event drop",
	"watch.events=hop_limit":      "the event hop_limit",
	"watch.events=mtu_exceeded":   "the event mtu_exceeded",

	"events.end_to_end":     "the event end_to_end",
	"events.link_latency":   "the event link_latency",
	"events.congestion":     "the event congestion",
	"events.tx_utilization": "the event tx_utilization",
	"events.loss":           "the event loss",
	"events.drop":           "the event drop",
	"events.hop_limit":      "the event hop_limit",
	"events.mtu_exceeded":   "the event mtu_exceeded",
}
