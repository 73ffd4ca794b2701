#!/usr/bin/env bash
# Lists the bounds checks that the compiler left in the packages of the packet
# path, with their source lines, and counts them by file: IsInBounds of an index,
# IsSliceInBounds of a slice expression. What runs once per burst or per new flow
# may have them; loops over packets, hops and words should not.
#
#   scripts/bce.sh [PACKAGE...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=("$@")
if [[ ${#packages[@]} -eq 0 ]]; then
	packages=(./engine ./engine/wire/packet ./engine/wire/inthdr ./engine/wire/strip ./engine/event ./engine/wire/report ./flows ./dpdk/mbuf ./dpdk/ring)
fi
# The compiler's findings are on stderr, also those of a cached build.
found=$(scripts/go.sh build -gcflags=-d=ssa/check_bce "${packages[@]}" 2>&1 | { grep '^[^<]*Found Is' || true; } | sed 's|^\./||' | sort -t: -k1,1 -k2,2n -u)

while IFS=: read -r file line _ what; do
	[[ -n "$file" ]] || continue
	printf '%s:%s:%s: %s\n' "$file" "$line" "$what" "$(sed -n "${line}s/^[[:space:]]*//p" "$file")"
done <<<"$found"
echo
cut -d: -f1 <<<"$found" | { grep . || true; } | sort | uniq -c | sort -rn
