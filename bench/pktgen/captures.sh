#!/usr/bin/env bash
# Makes captures with INT for Pktgen to play: int-SIZE.pcap, int-hops-N.pcap and
# int-64k-flows.pcap. Pktgen reads time stamps in microseconds only, hence editcap
# (Debian: wireshark-common, which make deps installs with tshark).
#
#   captures.sh [DIRECTORY]    (default: the current one)
set -euo pipefail
intsink=${INTSINK:-$(dirname "${BASH_SOURCE[0]}")/../../bin/intsink}
directory=${1:-.}
mkdir -p "$directory"
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT

# make NAME FLAGS...
make() {
	"$intsink" gen --out "$scratch" "${@:2}" >/dev/null
	editcap -F pcap "$scratch" "$directory/$1.pcap"
	echo "$directory/$1.pcap"
}

for size in 138 256 512 1024 1400; do
	make "int-$size" --count 1000 --flows 1000 --hops 3 --size $size
done
for hops in 1 8; do
	make "int-hops-$hops" --count 1000 --flows 1000 --hops $hops --size 512
done
make int-64k-flows --count 65536 --flows 65536 --hops 3 --size 138
