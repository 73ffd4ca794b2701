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

// ProblemsSince asks for those of all sinks that were wrong at this time, or later: node of the sink, problem as its API has it, began and heard
// (when it was last told) in Unix milliseconds.
func ProblemsSince(database string, since time.Time, limit int) string {
	return fmt.Sprintf("SELECT node, problem, toUnixTimestamp64Milli(since) AS began, toUnixTimestamp64Milli(told) AS heard "+
		"FROM %sproblems FINAL WHERE until IS NULL OR until >= %s ORDER BY since DESC, id LIMIT %d", database, at(since), limit) + asJSON
}

// EpisodesBetween asks for the episodes of a time; only is more conditions, each behind AND. begin_ns, end_ns and peak_ns are texts.
func EpisodesBetween(database string, from, to time.Time, only string, limit int) string {
	return fmt.Sprintf("SELECT id, node, egress, queue, toString(toUnixTimestamp64Nano(e.begin)) AS begin_ns, toString(toUnixTimestamp64Nano(e.end)) AS end_ns, "+
		"packets, bytes, toString(toUnixTimestamp64Nano(e.peak_at)) AS peak_ns, peak_latency_ns, peak_occupancy, usual_latency_ns, usual_occupancy, culprits, victims "+
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
