#!/usr/bin/env bash
# The network of the playground, of routers of Linux: linux.sh PREFIX WORD, where WORD is make, or what package scene asks for. Its
# namespaces are PREFIX-NODE, beside PREFIX-net, from whose interface n-out packets come, and whose e-out leads to the sink.
set -euo pipefail
source "$(dirname "$0")/routers.sh"
id=$1
from="101 102 103" to="301 302" spines="201 202 203 204"

# quietly HOW... runs what may fail, since it is so already.
quietly() { "$@" 2>/dev/null || true; }

# onward SPINE: its routes to the leaves.
onward() {
	for leaf in $to; do ip -n "$id-$1" -6 route replace 2001:db8:$leaf::/48 via fe80::$leaf dev l$leaf; done
}

# host LEAF INTERFACE NUMBER MAC PARENT: an interface of a leaf that leads to the namespace net.
host() {
	ip -n $id-net link add link "$5" name "$2" address "$4" netns "$id-$1" type macvlan mode private
	port "$id-$1" "$2" "$1" "$3"
}

make() {
	for node in $from $spines $to; do router $id-$node $node; done
	for spine in $spines; do
		for leaf in $from; do wire $id-$leaf s$spine $leaf $((spine - 150)) $id-$spine l$leaf $spine $((leaf - 100)); done
		for leaf in $to; do wire $id-$leaf s$spine $leaf $((spine - 150)) $id-$spine l$leaf $spine $((leaf - 290)); done
		onward $spine
	done
	for leaf in $from; do
		host $leaf h1 1 02:00:00:00:02:0$((leaf - 100)) m-in
		for end in $to; do # the third number of the destination names the spine; a flow of 203 goes by 204 where that is gone
			for spine in $spines; do echo "route add 2001:db8:$end:$spine::/64 via fe80::$spine dev s$spine metric 10"; done
			echo "route add 2001:db8:$end:203::/64 via fe80::204 dev s204 metric 20"
		done | ip -n $id-$leaf -6 -batch -
	done
	for leaf in $to; do
		for number in 11 12 13 14 15; do
			host $leaf h$number $number 02:00:00:00:$((leaf - 300)):$number e-out
			ip -n $id-$leaf -6 neigh add fe80::1 lladdr 02:00:00:00:01:$number dev h$number nud permanent
			for spine in $spines; do echo "route add 2001:db8:$leaf:$spine:$number::/80 via fe80::1 dev h$number"; done | ip -n $id-$leaf -6 -batch -
		done
	done
	tc -n $id-302 qdisc add dev h12 root tbf rate 8mbit burst 5000 limit 300000
	# A packet that is held against eight thousand rules takes its time; the first rule leads past them.
	ip -n $id-202 -6 rule add pref 9 goto 32766
	for n in $(seq 1000 8999); do echo "rule add pref $n from 2001:db8:ffff::$n blackhole"; done | ip -n $id-202 -6 -batch -
}

# lose: at random, one packet in five of those to 301 gets into a queue that holds none. In the program of the filter, 32 is a
# load (of a random number), 37 a comparison (with a fifth of all), 6 the answer.
lose() {
	quietly tc -n $id-201 qdisc del dev l301 root
	tc -n $id-201 qdisc add dev l301 root handle 1: htb default 1
	tc -n $id-201 class add dev l301 parent 1: classid 1:1 htb rate 1gbit quantum 2000
	tc -n $id-201 class add dev l301 parent 1: classid 1:2 htb rate 1gbit quantum 2000
	tc -n $id-201 qdisc add dev l301 parent 1:2 bfifo limit 1
	tc -n $id-201 filter add dev l301 parent 1: bpf bytecode '4,32 0 0 4294963256,37 1 0 858993459,6 0 0 4294967295,6 0 0 0' flowid 1:2
}

case $2 in
make) make ;;
fill) ;; # by who sends
slow) quietly ip -n $id-202 -6 rule del pref 9 ;;
move) for leaf in $from $to; do ip -n $id-203 link set l$leaf down; done ;;
lose) lose ;;
calm)
	quietly ip -n $id-202 -6 rule add pref 9 goto 32766
	for leaf in $from $to; do # a link that was down has lost its link-local address
		ip -n $id-203 link set l$leaf up
		ip -n $id-203 -6 addr replace fe80::203/64 dev l$leaf nodad
	done
	onward 203
	quietly tc -n $id-201 qdisc del dev l301 root
	;;
esac
