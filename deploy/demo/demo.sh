#!/usr/bin/env bash
# The demo: real traffic through an INT domain and the sink, in network
# namespaces. Needs bin/intsink and bin/traffic (make demo builds them) and root.
set -euo pipefail
cd "$(dirname "$0")/../.."

source deploy/demo/network.sh

# Without namespaces: the same story on a capture.
replay_story() {
	say "No network namespaces here ($1): the same story on a capture."
	"$intsink" gen --out "$work/int.pcap" --original "$work/plain.pcap" --count 20000 --flows 50 \
		--path-change-every 7000 --latency-step-every 3000
	"$intsink" replay --config "$here/demo.hcl" --in "$work/int.pcap" --out "$work/out.pcap" --reports "$work/reports.pcap"
	cmp "$work/plain.pcap" "$work/out.pcap" || fail "the packets behind the sink are not what was sent"
	say "The packets behind the sink are what was sent, byte for byte. The first reports:"
	"$intsink" decode --format text "$work/reports.pcap" >"$work/reports.txt" || fail "decode"
	sed -n 1,24p "$work/reports.txt"
	say "Demo done. Now look, as root: make playground"
	exit 0
}
[ "$(id -u)" = 0 ] || replay_story "not root"
ip netns add $client 2>/dev/null || replay_story "ip netns add is refused"

say "1. Four namespaces: client, INT domain, sink, server"
make_network

say "2. The sink, a collector, an INT source with three hops, a server"
ip netns exec $sink "$intsink" decode --format text --listen 127.0.0.1:8555 >"$work/reports.txt" 2>"$work/decode.log" & pids+=($!); decode_pid=$!
ip netns exec $sink "$intsink" run --config "$here/demo.hcl" >"$work/run.log" 2>&1 & pids+=($!); run_pid=$!
wait_ready $run_pid http://127.0.0.1:9465/readyz
ip netns exec $net "$intsink" gen --live n-in,n-out --hops 3 --latency-step-after 5s --path-change-after 8s >"$work/gen.json" 2>"$work/gen.log" & pids+=($!); gen_pid=$!
ip netns exec $server "$traffic" serve 10.66.0.2:80 >"$work/serve.log" 2>&1 & pids+=($!)
ip netns exec $server "$traffic" watch v0 5000 >"$work/server.json" 2>"$work/watch.log" & pids+=($!); watch_pid=$!
ip netns exec $sink "$traffic" watch s-net 5000 >"$work/domain.json" 2>"$work/watch2.log" & pids+=($!); domain_pid=$!
for _ in $(seq 50); do in_ns $client "$traffic" download http://10.66.0.2 1 >/dev/null 2>&1 && break; sleep 0.2; done

say "3. Traffic, and the reports as they arrive"
tail -n +1 -f "$work/reports.txt" 2>/dev/null | awk 'NR <= 60 { print "    " $0; fflush() } NR == 61 { print "    ... (all reports are counted below)"; fflush() }' & pids+=($!)
# One flow that lives through the latency step and the change of path.
ip netns exec $client "$traffic" echo 10.66.0.2:80 400 30ms >"$work/long.log" 2>&1 & pids+=($!); long_pid=$!
in_ns $client "$traffic" download http://10.66.0.2 20000000 || fail "download"
in_ns $client "$traffic" upload http://10.66.0.2 20000000 || fail "upload"
in_ns $client "$traffic" echo 10.66.0.2:80 500 1ms || fail "udp"
in_ns $client ping -q -c 20 -i 0.05 10.66.0.2 | grep -E 'transmitted' || fail "ping to the server"
in_ns $server ping -q -c 20 -i 0.05 10.66.0.1 | grep -E 'transmitted' || fail "ping to the client"
in_ns $client ping -q -c 5 -i 0.05 -s 4000 10.66.0.2 | grep -E 'transmitted' || fail "ping in fragments"
wait $long_pid || fail "the long udp flow: $(cat "$work/long.log")"
sleep 8 # flows end after 3 s of silence, and are found within 4 s more

say "4. What came out"
in_ns $sink "$traffic" get http://127.0.0.1:9465/metrics >"$work/metrics" || fail "metrics"
kill -TERM $watch_pid $domain_pid $gen_pid
wait $watch_pid $domain_pid $gen_pid || fail "a watcher or the source ended badly"
echo "source and transits   $(cat "$work/gen.json")"
echo "in front of the sink  $(cat "$work/domain.json")"
echo "at the server         $(cat "$work/server.json")"
grep -E '^intsink_(received|forwarded|int)_packets_total|^intsink_dropped_packets_total.* [1-9]|^intsink_reported_events_total.* [1-9]|^intsink_report_packets_sent' "$work/metrics"

grep -q '"int":0}' "$work/server.json" || fail "INT reached the server"
grep -q '"int":0}' "$work/domain.json" && fail "there was no INT in front of the sink"
for event in new_flow path_change hop_latency flow_end; do
	grep -qE "^intsink_reported_events_total\{event=\"$event\"\} [1-9]" "$work/metrics" || fail "no $event was reported"
done
kill -TERM $run_pid
wait $run_pid || fail "intsink run did not stop cleanly"
grep -q "all mbufs returned" "$work/run.log" || fail "mbufs were lost"
kill -TERM $decode_pid && wait $decode_pid || fail "the collector understood no report"
reports=$(grep -c . "$work/reports.txt" || true)
[ "$reports" -gt 0 ] || fail "no report arrived"
tail -n 4 "$work/decode.log"
say "Demo done: downloads intact, no INT at the server, reports decoded, all buffers returned."
say "Now look: make playground"
