# Several sinks behind the network of the playground, sourced by playground.sh where SINKS is more than 1: a
# namespace each, and intsink-collect with the page over all of them.

[ "$SINKS" -ge 2 ] && [ "$SINKS" -le 9 ] || fail "SINKS=$SINKS: must be 2 to 9"
page=${PAGE:-127.0.0.1:9466}
networks= namespaces= addresses= last=
trap 'kill -CONT $last 2>/dev/null || true; cleanup; for i in $(seq 2 "$SINKS"); do ip netns del "$sink$i" 2>/dev/null || true; done' EXIT

# one I: sink I, in namespace $sink for the first, else $sink$I.
one() {
	local ns=$sink$([ "$1" = 1 ] || echo "$1") address=127.0.0.1:$((9464 + $1 + 100 * ($1 > 1))) config=$work/sink$1.hcl
	if [ "$1" != 1 ]; then
		ip netns add "$ns"
		link $net "n-out$1" "$ns" s-net 1950
		link "$ns" s-host $server "v$1" 1500
		in_ns "$ns" ip link set lo up
	fi
	sed "s/127.0.0.1:9465/$address/; s#/run/intsink-playground-api.sock#$work/api$1.sock#; s/^node { id = 3 }/node { id = $((90000 + $1)) }/" "${CONFIG:-deploy/playground/playground.hcl}" >"$config"
	ip netns exec "$ns" "$intsink" decode --format text --listen 127.0.0.1:8555 >/dev/null 2>"$work/decode$1.log" & pids+=($!)
	ip netns exec "$ns" "$intsink" run --config "$config" >"$work/run$1.log" 2>&1 & last=$!; pids+=($last)
	networks=$networks,$net/n-out$([ "$1" = 1 ] || echo "$1") namespaces=$namespaces,$ns addresses=$addresses,$address
}

for i in $(seq 1 "$SINKS"); do one "$i"; done
{
	echo "http { listen = \"$page\" }"
	echo "network { sinks = [\"$(sed 's/^,//; s/,/", "/g' <<<"$addresses")\"] }"
} >"$work/network.hcl"
"$bin/intsink-collect" collect --config "$work/network.hcl" >"$work/network.log" 2>&1 & pids+=($!)
cat <<TEXT

  3 leaves, 4 spines and 2 leaves that write $writes, 60 flows, and $SINKS sinks behind them. Nothing is wrong yet.
  In a minute the sinks have learned what is usual; then break something.

  Open     http://$page/ui/          all sinks on one page; each has its own:${addresses//,/ }
  Then     slow   fill   move   lose   quiet   what   calm
  Ask      bin/intsink problems --address $page     also status, top, paths, why, incident
  To read  docs/network.md
  End      Ctrl-C

TEXT
"$bin/playground" "${ifa[@]}" --control "$control" --network "${networks#,}" --sink "${namespaces#,}" --listen "${addresses#,}" --quiet "$last"
exit
