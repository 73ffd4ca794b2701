#!/usr/bin/env bash
# Makes captures with INT for Pktgen to play: int-SIZE.pcap, and int-hops-N.pcap.
#
#   captures.sh [DIRECTORY]    (default: the current one)
set -euo pipefail
intsink=${INTSINK:-$(dirname "${BASH_SOURCE[0]}")/../../bin/intsink}
directory=${1:-.}

for size in 138 256 512 1024 1400; do
	"$intsink" gen --out "$directory/int-$size.pcap" --count 1000 --flows 1000 --hops 3 --size $size
done
for hops in 1 8; do
	"$intsink" gen --out "$directory/int-hops-$hops.pcap" --count 1000 --flows 1000 --hops $hops --size 512
done
"$intsink" gen --out "$directory/int-64k-flows.pcap" --count 65536 --flows 65536 --hops 3 --size 138
