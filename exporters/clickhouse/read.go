// Read: asks for what is stored, and the queries for what sinks do not remember any more. deploy/collect tests them.

package clickhouse

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// mostRead is how long an answer may be.
const mostRead = 32 << 20

// Read asks the servers, in their order, until one answers, and returns its answer. The user needs the right SELECT. Several may read at
// the same time, of an output that sends nothing.
func (o *Output) Read(ctx context.Context, query string) ([]byte, error) {
	var failed error
	for _, host := range o.servers {
		server := *o.insert
		server.Host = host
		q := server.Query()
		for setting := range Settings { // who may only read may not set them
			q.Del(setting)
		}
		q.Set("query", query)
		answer, err := o.ask(ctx, server, q, nil, mostRead)
		if err == nil && len(answer) == mostRead {
			return nil, fmt.Errorf("its answer is longer than %d MiB", mostRead>>20)
		}
		if err == nil {
			return answer, nil
		}
		if failed == nil {
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}

// Database is the name of the database that the table is in, quoted and with a dot behind it; "": the one that is the user's own.
func (o *Output) Database() string {
	if database, _, ok := strings.Cut(o.table, "."); ok {
		return quote(database) + "."
	}
	return ""
}

// asJSON ends a query whose rows are JSON objects, numbers as numbers.
const asJSON = " SETTINGS output_format_json_quote_64bit_integers = 0, output_format_json_quote_denormals = 0 FORMAT JSONEachRow"

// at is a time as a query has it.
func at(t time.Time) string {
	return fmt.Sprintf("fromUnixTimestamp64Milli(toInt64(%d), 'UTC')", t.UnixMilli())
}

// ProblemsBetween asks for those of all sinks that were wrong in a time: node of the sink, problem as its API has it, began and heard
// (when it was last told) in Unix milliseconds.
func ProblemsBetween(database string, from, to time.Time, limit int) string {
	return fmt.Sprintf("SELECT node, problem, toUnixTimestamp64Milli(since) AS began, toUnixTimestamp64Milli(told) AS heard "+
		"FROM %sproblems FINAL WHERE (until IS NULL OR until >= %s) AND since < %s ORDER BY since DESC, id LIMIT %d", database, at(from), at(to), limit) + asJSON
}

// EpisodesBetween asks for the episodes of a time; only is more conditions, each behind AND. begin_ns, end_ns and peak_ns are texts.
func EpisodesBetween(database string, from, to time.Time, only string, limit int) string {
	return fmt.Sprintf("SELECT id, node, egress, queue, toString(toUnixTimestamp64Nano(e.begin)) AS begin_ns, toString(toUnixTimestamp64Nano(e.end)) AS end_ns, "+
		"packets, bytes, toString(toUnixTimestamp64Nano(e.peak_at)) AS peak_ns, peak_latency_ns, peak_occupancy, usual_latency_ns, usual_occupancy, culprits, victims, other_packets, other_bytes "+
		"FROM %sepisodes AS e FINAL WHERE e.end >= %s AND e.begin < %s%s ORDER BY e.begin DESC, id LIMIT %d", database, at(from), at(to), only, limit) + asJSON
}

// Minutes is a table with a value of places, by minute.
type Minutes struct {
	Columns             []string // that say which place it is
	table, states, most string
}

// The tables of places by minute.
var (
	Queues   = Minutes{[]string{"node", "egress", "queue"}, "queues", "occupancy", "occupancy_max"}
	Hops     = Minutes{[]string{"node", "egress"}, "hops", "latency", "latency_max"}
	Segments = Minutes{[]string{"from_node", "to_node"}, "links", "latency", "latency_max"}
)

// Between returns the query for a number of steps, each so many seconds long; step 0 begins first times seconds after 1970. A row is a place: steps lists
// the numbers of its steps that have a value; median, p99 and max list these values. The place with the highest max comes first. only
// is more conditions, each behind AND.
func (m *Minutes) Between(database string, first, steps, seconds int64, only string, limit int) string {
	return fmt.Sprintf("SELECT %[1]s, groupArray(step) AS steps, groupArray(q[1]) AS median, groupArray(q[3]) AS p99, groupArray(most) AS max FROM ("+
		"SELECT %[1]s, toInt32(intDiv(toUnixTimestamp(minute), %[2]d) - %[3]d) AS step, quantilesTDigestMerge(0.5, 0.9, 0.99)(%[4]s) AS q, max(%[5]s) AS most FROM %[6]s%[7]s "+
		"WHERE minute >= toDateTime(%[8]d, 'UTC') AND minute < toDateTime(%[9]d, 'UTC')%[10]s GROUP BY %[1]s, step ORDER BY %[1]s, step) GROUP BY %[1]s ORDER BY arrayMax(max) DESC, %[1]s LIMIT %[11]d",
		strings.Join(m.Columns, ", "), seconds, first, m.states, m.most, database, m.table, first*seconds, (first+steps)*seconds, only, limit) + asJSON
}

// HeldBetween returns the query for the minutes of a time, held against the day before: a row is a place with before and now, each the median, the
// 90th and the 99th percentile, how many minutes of the day before are known, and the medians of the minutes of the time. only is more conditions, each
// behind AND.
func (m *Minutes) HeldBetween(database string, from, to time.Time, only string, limit int) string {
	const day = 24 * 60 * 60
	first, end := from.Unix()/60*60, (to.Unix()+59)/60*60
	return fmt.Sprintf("SELECT %[1]s, quantilesTDigestMergeIf(0.5, 0.9, 0.99)(states, minute < begins) AS before, quantilesTDigestMergeIf(0.5, 0.9, 0.99)(states, minute >= begins) AS now, "+
		"maxIf(most, minute >= begins) AS max, countIf(minute < begins) AS known, groupArrayIf(median, minute >= begins) AS medians FROM ("+
		"SELECT %[1]s, minute, toDateTime(%[2]d, 'UTC') AS begins, quantilesTDigestMergeState(0.5, 0.9, 0.99)(%[3]s) AS states, quantilesTDigestMerge(0.5, 0.9, 0.99)(%[3]s)[1] AS median, max(%[4]s) AS most FROM %[5]s%[6]s "+
		"WHERE minute >= toDateTime(%[7]d, 'UTC') AND minute < toDateTime(%[8]d, 'UTC')%[9]s GROUP BY %[1]s, minute ORDER BY %[1]s, minute) GROUP BY %[1]s ORDER BY %[1]s LIMIT %[10]d",
		strings.Join(m.Columns, ", "), first, m.states, m.most, database, m.table, first-day, end, only, limit) + asJSON
}

// WaysBetween asks for the ways of packets that were reported in a time, those with the most reports first: nodes, ingress and egress, up to 100
// flows, and how many packets were lost on it. condition says which reports.
func WaysBetween(database string, from, to time.Time, condition string, limit int) string {
	return fmt.Sprintf("SELECT path, arrayMap(h -> ifNull(h.node_id, 4294967295), hops) AS nodes, arrayMap(h -> ifNull(h.ingress, 4294967295), hops) AS ingress, "+
		"arrayMap(h -> ifNull(h.egress, 4294967295), hops) AS egress, groupUniqArray(100)(flow) AS flows, sum(ifNull(lost, 0)) AS lost_packets FROM %sreports FINAL "+
		"WHERE type = 'report' AND flow != '' AND time >= %s AND time < %s AND (%s) GROUP BY path, nodes, ingress, egress ORDER BY count() DESC, path LIMIT %d",
		database, at(from), at(to), condition, limit) + asJSON
}

// MissingBetween asks how many report packets of a time never came, and in how many gaps nobody knows how many.
func MissingBetween(database string, from, to time.Time) string {
	return fmt.Sprintf("SELECT sum(count) AS packets, countIf(count = 0) AS unknown FROM %sgaps FINAL WHERE time >= %s AND time < %s", database, at(from), at(to)) + asJSON
}
