#!/usr/bin/env bash
# Names Debian's packages of the parts of DPDK that no tool sees in a program, since EAL loads them
# as plugins: buses, pools, drivers. Each has in its name the version of DPDK's binary interface
# that this machine builds for: librte-net-ice23 in Debian 12, librte-net-ice25 in 13.
#
#   scripts/dpdk-packages.sh net-ice bus-pci...     a line each, of those that this Debian has
set -euo pipefail
abi=$(dpkg-query -W -f '${Package}\n' 'librte-eal[0-9]*' | sed 's/^librte-eal//' | sort -n | tail -n 1)
for part in "$@"; do
	[[ $part == *[0-9] ]] && name=librte-$part-$abi || name=librte-$part$abi
	if dpkg-query -W "$name" >/dev/null 2>&1; then
		echo "$name"
	fi
done
