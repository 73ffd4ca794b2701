# Routers of Linux that write IOAM, a network namespace each: sourced by linux.sh, and by the test of what they write.

# router NAMESPACE NODE: one that forwards IPv6, and fills traces of IOAM namespace 123.
router() {
	ip netns add "$1"
	ip -n "$1" link set lo up
	ip netns exec "$1" sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv6.conf.default.forwarding=1 net.ipv6.ioam6_id="$2" \
		net.ipv6.conf.default.ignore_routes_with_linkdown=1 net.ipv6.conf.default.keep_addr_on_down=1
	ip -n "$1" ioam namespace add 123
}

# port NAMESPACE INTERFACE NODE NUMBER: the interface has that number in traces, and the link-local address fe80::NODE.
port() {
	ip netns exec "$1" sysctl -qw net.ipv6.conf."$2".ioam6_enabled=1 net.ipv6.conf."$2".ioam6_id="$4" net.ipv6.conf."$2".accept_dad=0
	ip netns exec "$1" ethtool -K "$2" tx off rx off tso off gso off gro off >/dev/null 2>&1 || true # packets as on the wire
	printf '%s\n' "link set $2 addrgenmode none" "address add fe80::$3/64 dev $2 nodad" "link set $2 up" | ip -n "$1" -batch -
}

# wire NAMESPACE INTERFACE NODE NUMBER NAMESPACE INTERFACE NODE NUMBER: a cable between two routers.
wire() {
	ip link add name "$2" mtu 1950 netns "$1" type veth peer name "$6" mtu 1950 netns "$5"
	port "$1" "$2" "$3" "$4"
	port "$5" "$6" "$7" "$8"
}
