# The network of the demos: four namespaces, sourced by demo.sh and demo-collect.sh; the playground
# takes its parts.
#
#   client ── source and 3 transit hops ══ sink ── server
#   10.66.0.1   adds INT (gen --live)    removes it   10.66.0.2

bin=${BIN:-$PWD/bin}
intsink=$bin/intsink
traffic=$bin/traffic
here=$PWD/deploy/demo
work=$(mktemp -d)
id=$$
client=is$id-client net=is$id-net sink=is$id-sink server=is$id-server
pids=()
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
fail() {
	printf '%s: FAILED: %s\n' "${what:-demo}" "$*" >&2
	tail -n 5 "$work"/*.log >&2 2>/dev/null || true
	exit 1
}
in_ns() { ip netns exec "$@"; }

cleanup() {
	for p in "${pids[@]:-}"; do [ -n "$p" ] && kill "$p" 2>/dev/null || true; done
	for p in "${pids[@]:-}"; do [ -n "$p" ] && wait "$p" 2>/dev/null || true; done
	for n in $client $net $sink $server "${routers[@]:-}"; do ip netns del "$n" 2>/dev/null || true; done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# link A B: a cable between two namespaces, frames as on the wire (no offloads).
link() { # namespace interface namespace interface mtu
	ip link add "$2" mtu "$5" netns "$1" type veth peer name "$4" mtu "$5" netns "$3"
	for end in "$1 $2" "$3 $4"; do
		set -- $end
		in_ns "$1" sysctl -qw net.ipv6.conf."$2".disable_ipv6=1
		in_ns "$1" ethtool -K "$2" tx off rx off tso off gso off gro off rxvlan off txvlan off >/dev/null 2>&1 || true
		in_ns "$1" ip link set "$2" up
	done
}

# make_network makes the namespaces but the client's, which tells whether that is allowed.
make_network() {
	for n in $net $sink $server; do ip netns add "$n"; done
	link $client c0 $net n-in 1500
	link $net n-out $sink s-net 1950
	link $sink s-host $server v0 1500
	for n in $client $net $sink $server; do in_ns "$n" ip link set lo up; done
	in_ns $client ip addr add 10.66.0.1/24 dev c0
	in_ns $server ip addr add 10.66.0.2/24 dev v0
}

# wait_ready PID URL: waits until a server of the sink's namespace is ready.
wait_ready() {
	for _ in $(seq 900); do
		in_ns $sink "$traffic" get "$2" >/dev/null 2>&1 && return
		kill -0 "$1" 2>/dev/null || fail "the process behind $2 ended"
		sleep 0.1
	done
	fail "$2 did not become ready"
}

# start_kafka starts Apache Kafka in the sink's namespace, with the topic of records.
start_kafka() {
	engines=$(realpath "${INTSINK_ENGINES:-bin/engines}")
	local java=(java -Xmx384m -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$engines/kafka/lib/*")
	{ cat "$here/kafka.properties"; echo "log.dirs=$work/kafka"; } >"$work/kafka.properties"
	"${java[@]}" kafka.tools.StorageTool format -t q1Sh-9_ISia_zwGINzRvyQ -c "$work/kafka.properties" >"$work/format.log" 2>&1 || fail "Kafka's storage"
	ip netns exec $sink "${java[@]}" kafka.Kafka "$work/kafka.properties" >"$work/kafka.log" 2>&1 & pids+=($!)
	for _ in $(seq 60); do in_ns $sink kcat -b 127.0.0.1:9092 -L -t intsink.reports.v1 2>/dev/null | grep -q 'with 6 partitions' && return; sleep 1; done
	fail "Kafka did not become ready"
}
