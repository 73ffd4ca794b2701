// Kind: the closed list of what can be wrong, each with its severity and a line for the documents.

package problem

// Kind is what is wrong. The list is closed: it is the label of a metric.
type Kind string

// The kinds.
const (
	ReportsLost    Kind = "reports_lost"
	CollectorAway  Kind = "collector_away"
	PacketsDropped Kind = "packets_dropped"
	PacketsMissed  Kind = "packets_missed"
	PortErrors     Kind = "port_errors"
	LinkDown       Kind = "link_down"
	WorkerBehind   Kind = "worker_behind"
	TableFull      Kind = "table_full"
	FlowsRefused   Kind = "flows_refused"
	LessDone       Kind = "less_done"
	BypassSwitch   Kind = "bypass_switch"
	INTDamaged     Kind = "int_damaged"
	ChecksumBad    Kind = "checksum_bad"
	ValuesOdd      Kind = "values_odd"
	INTLeaked      Kind = "int_leaked"
	ClockWrong     Kind = "clock_wrong"
	ConfigOnTrial  Kind = "config_on_trial"
	ReloadRefused  Kind = "reload_refused"
	RestartPending Kind = "restart_pending"
	UpgradeUndone  Kind = "upgrade_undone"
	Degraded       Kind = "degraded"
	PathChanged    Kind = "path_changed"
	NodeGone       Kind = "node_gone"
	FlowsSilent    Kind = "flows_silent"
	LossBetween    Kind = "loss_between"
	Loop           Kind = "loop"
	TooManyHops    Kind = "too_many_hops"
	QueueCongested Kind = "queue_congested"
	SlowHop        Kind = "slow_hop"
	SlowSegment    Kind = "slow_segment"
	InterfaceBusy  Kind = "interface_busy"
	NodeIDTwice    Kind = "node_id_twice"
	UsualChanged   Kind = "usual_changed"
	MoreProblems   Kind = "more_problems"
)

// The kinds of what is wrong with the sinks that a network's page asks.
const (
	SinkAway  Kind = "sink_away"
	SinkClock Kind = "sink_clock"
	SinkTwice Kind = "sink_twice"
)

// KindInfo is what is known of all problems of a kind.
type KindInfo struct {
	Kind     Kind
	Severity Severity
	Doc      string
}

// Kinds are all, in the order of the documents.
var Kinds = []KindInfo{
	{ReportsLost, Warning, "reports do not get to a collector, by reason"},
	{CollectorAway, Error, "nobody listens at a collector's address, or its gateway does not answer"},
	{PacketsDropped, Warning, "packets are dropped on their way through a link, by direction and reason"},
	{PacketsMissed, Warning, "a port loses packets before a worker sees them: its queue is full, or no mbuf is free"},
	{PortErrors, Warning, "a port receives packets with errors, or such as the kernel joined and nobody can cut"},
	{LinkDown, Error, "the link of a port is down"},
	{WorkerBehind, Error, "a worker does not poll"},
	{TableFull, Warning, "the flow table is full: flows make room for others"},
	{FlowsRefused, Warning, "new flows are not watched: a flood"},
	{LessDone, Warning, "a mode other than full is in force"},
	{BypassSwitch, Error, "the bypass switch takes packets around the sink, or its command fails"},
	{INTDamaged, Warning, "INT that is not sound arrives on a link, by reason"},
	{ChecksumBad, Error, "packets whose checksum was right leave with a wrong one"},
	{ValuesOdd, Warning, "a node writes values that cannot be into IFA: residence times above `max_residence`, which are not known then; in which share of packets"},
	{INTLeaked, Warning, "hosts send INT towards the network"},
	{ClockWrong, Warning, "the clock of a node is not that of its neighbours, by how much, and whether that grows; or of whole ways: latencies come out negative"},
	{ConfigOnTrial, Warning, "the configuration in force, or the program that runs, goes by itself unless somebody confirms it"},
	{ReloadRefused, Warning, "the last reload was refused: the next restart would fail, or bring what was refused"},
	{RestartPending, Warning, "the program's file was replaced: another version is installed than runs"},
	{UpgradeUndone, Warning, "another program was on trial, and the one before it came back"},
	{Degraded, Warning, "a part does not work as configured, while all else does"},
	{PathChanged, Warning, "flows leave a node or link for another way, more than chance explains; or a node writes no INT any more"},
	{NodeGone, Error, "flows left a node, and no packet came through it for 5 s, while its neighbours carry traffic"},
	{FlowsSilent, Error, "flows that passed a node or link fell silent together, or what is sprayed over it does not arrive, while others go on, and chance does not explain it"},
	{LossBetween, Error, "packets of flows are lost; the place is what the ways of these flows share"},
	{Loop, Error, "packets pass a node twice"},
	{TooManyHops, Warning, "packets pass more hops than their INT source allows, so that later ones tell nothing"},
	{QueueCongested, Error, "a queue is congested, as events.congestion says; with the flows that fill it and those that wait"},
	{SlowHop, Error, "packets take eight times as long through a node as usual, and its queue is not fuller than usual"},
	{SlowSegment, Error, "packets take eight times as long from one node to the next as usual"},
	{InterfaceBusy, Warning, "an interface sends nine tenths of what it can, or more, as events.tx_utilization says, for five seconds; of nodes whose unit is known, where no queue of it is congested"},
	{NodeIDTwice, Warning, "packets pass a node that has the sink's own node id: collectors take the two for one"},
	{UsualChanged, Warning, "what is usual at a node, queue or segment has become four times what it was: what is held against it has moved, too"},
	{MoreProblems, Warning, "more is wrong than there is room for: how much, and of which kinds"},
}

// KindsOfSinks are those that only a network's page has.
var KindsOfSinks = []KindInfo{
	{SinkAway, Error, "a sink does not answer"},
	{SinkClock, Warning, "its clock is more than two seconds off this machine's: its times are put right by as much"},
	{SinkTwice, Error, "two sinks say that they are one node, or one process"},
}

// Severity is that of all problems of the kind.
func (k Kind) Severity() Severity {
	for _, kinds := range [][]KindInfo{Kinds, KindsOfSinks} {
		if info := infoOf(k, kinds); info != nil {
			return info.Severity
		}
	}
	return Warning
}

// Known tells whether a sink has such a kind.
func (k Kind) Known() bool { return infoOf(k, Kinds) != nil }

// infoOf is what is known of k; nil: it is not among kinds.
func infoOf(k Kind, kinds []KindInfo) *KindInfo {
	for i := range kinds {
		if kinds[i].Kind == k {
			return &kinds[i]
		}
	}
	return nil
}
