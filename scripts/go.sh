#!/usr/bin/env bash
# Runs the go command of a toolchain that go.mod accepts: the one in PATH, one
# in its usual places, or the one that deps.sh fetched. `--find` prints its path
# and nothing else. Fails, and says what to do, when there is none.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
want=$(awk '$1 == "go" {print $2; exit}' "$root/go.mod")

# new_enough GO: GO by itself (GOTOOLCHAIN=local) is at least go.mod's version.
new_enough() {
	local have
	have=$(cd / && GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
	[[ "$(printf '%s\n' "$want" "${have#go}" | sort -V | head -n 1)" == "$want" ]]
}

candidates() {
	type -aP go || true
	echo /usr/local/go/bin/go
	printf '%s\n' /usr/lib/go-*/bin/go
	local any arch
	any=$(type -P go) || return 0
	arch=$(cd / && "$any" env GOHOSTARCH) # GOARCH may name what it compiles for
	printf '%s\n' "$(cd / && "$any" env GOMODCACHE)"/golang.org/toolchain@v0.0.1-go*.linux-"$arch"/bin/go
}

while read -r go; do
	if [[ -x "$go" ]] && new_enough "$go"; then
		if [[ "${1-}" == --find ]]; then
			echo "$go"
			exit
		fi
		# gofmt and the go that tests start must be the same toolchain's.
		# DPDK 23.11 and newer ask pkg-config for -mrtm, which only makes intrinsics known that
		# DPDK's headers use, and which cgo takes from no file unless it is told to.
		CGO_CFLAGS_ALLOW="${CGO_CFLAGS_ALLOW:+$CGO_CFLAGS_ALLOW|}-mrtm" \
			PATH="$(dirname "$go"):$PATH" exec "$go" "$@"
	fi
done < <(candidates)

[[ "${1-}" == --find ]] || echo "no Go $want or newer: run \`make deps\`, or put one first in PATH" >&2
exit 1
