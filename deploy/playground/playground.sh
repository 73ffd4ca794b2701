#!/usr/bin/env bash
# A network to play with: three leaves, four spines and two leaves that write INT, and the sink behind
# them, in network namespaces, until Ctrl-C. Needs root, and what make playground makes.
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/demo/network.sh
listen=${LISTEN:-127.0.0.1:9465}
control=${CONTROL:-/run/intsink-playground.sock}
config=$work/playground.hcl
[ "$(id -u)" = 0 ] || fail "the playground makes network namespaces: run it as root"
ip netns add $net 2>/dev/null || fail "ip netns add is refused: is this a container without CAP_SYS_ADMIN?"

for n in $sink $server; do ip netns add "$n"; done
link $net n-out $sink s-net 1950
link $sink s-host $server v0 1500
for n in $net $sink $server; do in_ns "$n" ip link set lo up; done
sed "s/127.0.0.1:9465/$listen/" deploy/playground/playground.hcl >"$config"

ip netns exec $sink "$intsink" decode --format text --listen 127.0.0.1:8555 >/dev/null 2>"$work/decode.log" & pids+=($!)
ip netns exec $sink "$intsink" run --config "$config" >"$work/run.log" 2>&1 & run_pid=$!; pids+=($run_pid)
wait_ready $run_pid "http://$listen/readyz"
cat <<TEXT

  3 leaves, 4 spines and 2 leaves, 60 flows, and a sink behind them. Nothing is wrong yet.

  Open     http://$listen/ui/
  Then     slow   fill   move   lose   what   calm      here, or from another terminal:
           deploy/playground/do slow
  To read  docs/first-hour.md
  End      Ctrl-C

TEXT
bin/playground --control "$control" --network $net/n-out --sink $sink --listen "$listen"
