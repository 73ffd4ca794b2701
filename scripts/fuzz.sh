#!/usr/bin/env bash
# fuzz.sh TIME: fuzzes every target of the project for TIME (such as 30s) or for so many
# executions (20000x), as many at a time as there are processors, each by one process. By time,
# "context deadline exceeded" may end a run with nothing found, so tests count executions. A crash
# leaves its input in the package's testdata/fuzz; by time, inputs that reach new code stay in Go's cache.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=${1:?usage: fuzz.sh TIME}

bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
export bin time cache minimize
# A crash is made short for who looks for one, not for a test. A test begins with the inputs in testdata, and takes
# as long on every machine: with what was found in hours before it takes two to three times as long.
minimize=60s
cache=$(scripts/go.sh env GOCACHE)/fuzz/$(scripts/go.sh list -m)
if [[ $time == *x ]]; then
	minimize=0
	cache=$bin/cache
fi

targets=$(grep -r --include='*_test.go' -H -o -E '^func Fuzz[A-Za-z0-9_]*' . | sort -u) || { echo "no fuzz targets" >&2; exit 1; }

# Each package once, with what counts the coverage, whichever its targets. Symbols are left out:
# the linker would need half its time for them.
cut -d : -f 1 <<<"$targets" | xargs -n 1 dirname | sort -u | xargs -P "$(nproc)" -I {} \
	sh -c 'scripts/go.sh test -vet=off -ldflags=-w -fuzz=. -c -o "$bin/$1/test" "$1"' - {}

# one FILE:func NAME: fuzzes one target, and shows what it said if it failed.
one() {
	local dir name out
	dir=$(dirname "${1%%:*}")
	name=${1#*:func }
	out=$(cd "$dir" && "$bin/$dir/test" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$time" -test.parallel 1 \
		-test.fuzzminimizetime "$minimize" -test.fuzzcachedir "$cache/$dir" 2>&1 </dev/null) || { printf 'fuzz %s %s\n%s\n' "$dir" "$name" "$out"; return 1; }
	echo "fuzz $dir $name $time"
}
export -f one
xargs -d '\n' -P "$(nproc)" -I {} bash -euo pipefail -c 'one "$1"' - {} <<<"$targets"
