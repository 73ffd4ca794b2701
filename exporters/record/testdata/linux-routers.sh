# The network of linuxrouters_test.go: interface near of the test, routers 101 to 103, interface far of the test. Namespace 123 is known
# to all, 125 not to 102. The queue of the last router lets hardly anything out.
set -eu
source ../../deploy/playground/routers.sh
id=$1
ip link set lo up
for n in 1 2 3; do router $id-$n 10$n; done
port_of_test() {
	ip link add name $1 mtu 1950 type veth peer name $2 mtu 1950 netns $3
	sysctl -qw net.ipv6.conf.$1.disable_ipv6=1
	ip link set $1 up
	port $3 $2 $4 $5
}
port_of_test near in $id-1 101 11
wire $id-1 out 101 12 $id-2 in 102 21
wire $id-2 out 102 22 $id-3 in 103 31
port_of_test far out $id-3 103 32
ip -n $id-1 link set in address 02:00:00:00:00:02
for n in 1 2; do ip -n $id-$n -6 route add 2001:db8::/32 via fe80::10$((n+1)) dev out; done
ip -n $id-3 -6 neigh add fe80::1 lladdr 02:00:00:00:00:09 dev out nud permanent
ip -n $id-3 -6 route add 2001:db8::/32 via fe80::1 dev out
for n in 1 2 3; do
	ip netns exec $id-$n sysctl -qw net.ipv6.ioam6_id_wide=$((0x77000000000000 + 100 + n))
	for i in in out; do
		x=$(ip netns exec $id-$n sysctl -n net.ipv6.conf.$i.ioam6_id)
		ip netns exec $id-$n sysctl -qw net.ipv6.conf.$i.ioam6_id_wide=$((x + 1000))
	done
done
for n in 1 3; do ip -n $id-$n ioam namespace add 125; done
ip -n $id-1 ioam namespace del 123
ip -n $id-1 ioam namespace add 123 data 0xdada0101 wide 0xdada010101010101
ip -n $id-1 ioam schema add 7 "router one"
ip -n $id-1 ioam namespace set 123 schema 7
tc -n $id-3 qdisc add dev out root tbf rate 1kbit burst 1200 limit 100000
for n in 1 2; do ip netns exec $id-$n ping -c 1 -w 9 -q fe80::10$((n+1))%out; done
