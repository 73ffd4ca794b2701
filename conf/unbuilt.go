package conf

// unbuilt is everything that the configuration accepts and this version does
// not act on yet: one of these places gives one warning per feature, unless it
// says what is the default anyway, as all of a dump does. A place is the path of an
// attribute or block, without labels; "=" asks for one value of it, in a list for
// an element of watch.events. Delete the line of what has been built.
var unbuilt = map[string]string{
	"watch.match.vlan": "watch.match.vlan (every VLAN matches)",
	"watch.match.dscp": "watch.match.dscp (every DSCP matches)",

	"collector.budget": "the collector budget",
}
