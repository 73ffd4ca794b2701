#!/usr/bin/env bash
# Starts Pktgen-DPDK with two ports; the first one plays a capture with INT. On its console: `set
# 0 rate 10`, `start 0`, `stop 0`, `quit`.
#
#   pktgen.sh 0000:3b:00.0 0000:3b:00.1 int-138.pcap    # two ports of a NIC, bound to vfio-pci
#   pktgen.sh memif int-138.pcap                        # shared memory, for intsink with memif.hcl
#
# PKTGEN is the binary (default: pktgen in PATH), CORES the main lcore and the
# lcores of the two ports (default: 1,2,3; two may be the same CPU), SOCKET the
# path of memif's socket, EAL further arguments.
set -euo pipefail

usage() { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }

socket=${SOCKET:-/run/intsink-pktgen.sock}
IFS=, read -r main tx rx <<<"${CORES:-1,2,3}"
eal=(--lcores "0@$main,1@$tx,2@$rx" --no-telemetry)
if [[ $# -eq 2 && "$1" == memif ]]; then
	rm -f "$socket"
	eal+=(--no-pci --no-shconf --no-huge -m 4608)
	for id in 0 1; do
		eal+=(--vdev "net_memif$id,role=server,id=$id,socket=$socket,socket-abstract=no")
	done
	capture=$2
elif [[ $# -eq 3 ]]; then
	eal+=(-a "$1" -a "$2" --in-memory)
	capture=$3
else
	usage
fi
[[ -r "$capture" ]] || { echo "no capture $capture: bench/pktgen/captures.sh makes some" >&2; exit 1; }
# shellcheck disable=SC2086 # EAL is several words
exec "${PKTGEN:-pktgen}" "${eal[@]}" ${EAL-} -- -P -G -m '[1:1].0' -m '[2:2].1' -s "0:$capture"
