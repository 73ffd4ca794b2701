#!/usr/bin/env bash
# A network to play with: three leaves, four spines and two leaves that write INT, and the sink behind
# them, in network namespaces, until Ctrl-C. Needs root, and what make playground makes. CONFIG=FILE is a
# configuration of yours for the sink, such as a copy of playground.hcl with thresholds, names or webhooks.
# SINKS=3 has three sinks, and one page over all of them (sinks.sh). IFA=1: the switches write IFA. LINUX=1: they are
# routers of Linux, which write IOAM (linux.sh).
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/demo/network.sh
what=playground
listen=${LISTEN:-127.0.0.1:9465}
control=${CONTROL:-/run/intsink-playground.sock}
[ -z "${CONFIG:-}" ] || [ -r "$CONFIG" ] || fail "CONFIG=$CONFIG: there is no such file, or it cannot be read"
! "$bin/playground" --control "$control" help >/dev/null 2>&1 || fail "another playground runs: end it first"
api=${control%.sock}-api.sock
config=$work/playground.hcl
how=() routers=() writes=INT
if [ "${IFA:-0}" != 0 ]; then
	how=(--ifa) writes=IFA
	sed 's/^  udp_port = 5000$/  ifa {\n    protocol = 253\n    copies   = "drop"\n  }/' "${CONFIG:-deploy/playground/playground.hcl}" >"$work/ifa.hcl"
	CONFIG=$work/ifa.hcl
fi
if [ "${LINUX:-0}" != 0 ]; then
	[ "${SINKS:-1}" = 1 ] || fail "LINUX=1 has one sink: leave SINKS out"
	[ "${IFA:-0}" = 0 ] || fail "routers of Linux write IOAM, and no IFA: LINUX=1 or IFA=1"
	[ -e /proc/sys/net/ipv6/ioam6_id ] || fail "this kernel writes no IOAM: it takes Linux 5.15 with CONFIG_IPV6"
	how=(--routers "deploy/playground/linux.sh is$id") writes="IOAM: routers of Linux"
	routers=(is$id-{101,102,103,201,202,203,204,301,302})
	sed 's/^  udp_port = 5000$/  ioam {\n    namespace     = 123\n    flow_sequence = true\n  }/; s/^node_model "switches" .*/node_model "linux" { queue_unit = "1 bytes" }/' "${CONFIG:-deploy/playground/playground.hcl}" >"$work/linux.hcl"
	CONFIG=$work/linux.hcl
fi
[ "$(id -u)" = 0 ] || fail "the playground makes network namespaces: run it as root"
ip netns add $net 2>/dev/null || fail "ip netns add is refused: is this a container without CAP_SYS_ADMIN?"

for n in $sink $server; do ip netns add "$n"; done
if [ "${#routers[@]}" = 0 ]; then
	link $net n-out $sink s-net 1950
else
	link $net n-out $net m-in 1950
	link $net e-out $sink s-net 1950
	echo "making nine routers of Linux ..."
	deploy/playground/linux.sh is$id make || fail "the routers"
fi
link $sink s-host $server v0 1500
for n in $net $sink $server; do in_ns "$n" ip link set lo up; done
[ "${SINKS:-1}" = 1 ] || source deploy/playground/sinks.sh
sed "s/127.0.0.1:9465/$listen/; s#/run/intsink-playground-api.sock#$api#" "${CONFIG:-deploy/playground/playground.hcl}" >"$config"

# full starts what stores reports, and Prometheus: make playground-full.
full() {
	start_kafka
	cp "$here/collect.hcl" "$work/"
	ip netns exec $sink "$bin/intsink-collect" collect --config "$work/collect.hcl" >"$work/collect.log" 2>&1 & pids+=($!)
	wait_ready $! http://127.0.0.1:9466/readyz
	ip netns exec $sink env NODE_PATH="$engines/chdb/node_modules" node deploy/playground/clickhouse.js "$work/clickhouse" 127.0.0.1:8123 >"$work/node.log" 2>&1 & pids+=($!)
	wait_ready $! http://127.0.0.1:8123/
	printf 'rule_files: [%s]\nscrape_configs:\n- job_name: intsink\n  scrape_interval: 5s\n  static_configs: [{targets: ["%s", "127.0.0.1:9466"]}]\n' "$PWD/deploy/prometheus/rules.yml" "$listen" >"$work/prometheus.yml"
	ip netns exec $sink prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/prometheus" --web.listen-address=127.0.0.1:9090 >"$work/prometheus.log" 2>&1 & pids+=($!)
	wait_ready $! http://127.0.0.1:9090/-/ready
	echo 'notify "clickhouse" { url = "http://127.0.0.1:8123/?query=INSERT%20INTO%20int.problem_posts%20FORMAT%20JSONEachRow%20" }' >>"$config"
	more=,127.0.0.1:9466,127.0.0.1:8123,127.0.0.1:9090
}

trap 'exit 0' INT TERM # that is how it ends
more=
if [ -n "${FULL:-}" ]; then
	full
else
	ip netns exec $sink "$intsink" decode --format text --listen 127.0.0.1:8555 >/dev/null 2>"$work/decode.log" & pids+=($!)
fi
ip netns exec $sink "$intsink" run --config "$config" >"$work/run.log" 2>&1 & run_pid=$!; pids+=($run_pid)
wait_ready $run_pid "http://$listen/readyz"
asked=
[ "$listen" = 127.0.0.1:9465 ] || asked=" --socket $api"
cat <<TEXT

  3 leaves, 4 spines and 2 leaves that write $writes, 60 flows, and a sink behind them. Nothing is wrong yet.
  In a minute the sink has learned what is usual; then break something.

  Open     http://$listen/ui/
  Then     slow   fill   move   lose   what   calm      here, or from another terminal:
           deploy/playground/do slow
  Ask      bin/intsink problems     also top, incident, capture, mode: all find this sink${asked:+ by$asked}
  To read  docs/first-hour.md
  End      Ctrl-C

TEXT
[ -z "$more" ] || cat <<TEXT
  Prometheus with alerts   http://127.0.0.1:9090/alerts
  ClickHouse               curl 'http://127.0.0.1:8123/' -d 'SELECT event, count() FROM int.reports ARRAY JOIN events AS event GROUP BY event'
                           curl 'http://127.0.0.1:8123/' -d 'SELECT kind, place, since, until, culprits[1].flow AS culprit FROM int.problems FINAL'
  The collector            http://127.0.0.1:9466/metrics
  Dashboards               import deploy/grafana/sink.json into a Grafana of yours, with this Prometheus as data source

TEXT
"$bin/playground" "${how[@]}" --control "$control" --network $net/n-out --sink $sink --listen "$listen$more"
