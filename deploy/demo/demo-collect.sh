#!/usr/bin/env bash
# The network of the demo, its sink, `intsink-collect`, Apache Kafka and ClickHouse: traffic,
# then three questions of docs/queries.md. All stays until Ctrl-C, to be asked more (STAY=0: it ends). Needs root, and what make
# demo-collect makes.
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/demo/network.sh
ip netns add $client 2>/dev/null || fail "make demo-collect needs root and network namespaces"

say "1. Four namespaces: client, INT domain, sink, server"
make_network

say "2. Apache Kafka, the collector, the sink, an INT source with three hops, a server"
start_kafka
cp "$here/collect.hcl" "$work/"
ip netns exec $sink "$PWD/bin/intsink-collect" collect --config "$work/collect.hcl" >"$work/collect.log" 2>&1 & pids+=($!); collect_pid=$!
wait_ready $collect_pid http://127.0.0.1:9466/readyz
ip netns exec $sink env NODE_PATH="$engines/chdb/node_modules" node deploy/playground/clickhouse.js "$work/clickhouse" 127.0.0.1:8123 >"$work/node.log" 2>&1 & pids+=($!)
wait_ready $! http://127.0.0.1:8123/
ip netns exec $sink "$intsink" run --config "$here/demo.hcl" >"$work/run.log" 2>&1 & pids+=($!); run_pid=$!
wait_ready $run_pid http://127.0.0.1:9465/readyz
ip netns exec $net "$intsink" gen --live n-in,n-out --hops 3 --latency-step-after 5s --path-change-after 8s >"$work/gen.json" 2>"$work/gen.log" & pids+=($!)
ip netns exec $server "$traffic" serve 10.66.0.2:80 >"$work/serve.log" 2>&1 & pids+=($!)
for _ in $(seq 50); do in_ns $client "$traffic" download http://10.66.0.2 1 >/dev/null 2>&1 && break; sleep 0.2; done

say "3. Traffic, for some 12 seconds"
ip netns exec $client "$traffic" echo 10.66.0.2:80 400 30ms >"$work/long.log" 2>&1 & long_pid=$!; pids+=($long_pid)
in_ns $client "$traffic" download http://10.66.0.2 20000000 || fail "download"
in_ns $client "$traffic" upload http://10.66.0.2 20000000 || fail "upload"
wait $long_pid || cat "$work/long.log" # beside a broker, more than a tenth may come late
sleep 8 # flows end after 3 s of silence, and are found within 4 s more

say "4. The collector's accounts"
sleep 1
in_ns $sink "$traffic" get http://127.0.0.1:9466/metrics >"$work/metrics" || fail "metrics"
grep -E '^intcollect_(datagrams_total|report_packets_total|lost_report|records_total|output_(records|delivered|queued|spooled))' "$work/metrics"
delivered=$(awk '/^intcollect_output_delivered_records_total/ {print $NF}' "$work/metrics")
[ "$delivered" -gt 0 ] || fail "nothing was delivered"

say "5. Three questions to ClickHouse, which reads the topic"
in_ns $sink node "$here/queries.js" 127.0.0.1:8123 "$delivered" 2>"$work/queries.log" || fail "queries"
if [ "${STAY:-1}" != 0 ]; then
	ip netns exec $client bash -c "while '$traffic' download http://10.66.0.2 200000; do sleep 1; done" >"$work/more.log" 2>&1 & pids+=($!)
	cat <<-TEXT
		  All of it stays, with a download a second.

		  The sink         http://127.0.0.1:9465/ui/
		  The collector    http://127.0.0.1:9466/metrics
		  ClickHouse       curl http://127.0.0.1:8123/ -d 'SELECT event, count() FROM int.reports ARRAY JOIN events AS event GROUP BY event'
		                   curl http://127.0.0.1:8123/ -d 'SELECT path, nodes, last_seen FROM int.paths FINAL ORDER BY last_seen DESC'
		  More questions   docs/queries.md
		  End              Ctrl-C

	TEXT
	"$bin/playground" --sink $sink --listen 127.0.0.1:9465,127.0.0.1:9466,127.0.0.1:8123
fi
kill -TERM $run_pid && wait $run_pid || fail "intsink run did not stop cleanly"
kill -TERM $collect_pid && wait $collect_pid || fail "intsink-collect did not stop cleanly"
say "Demo done: sink -> collect -> Kafka -> ClickHouse."
