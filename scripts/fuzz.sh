#!/usr/bin/env bash
# fuzz.sh TIME: fuzzes every target of the project for TIME (such as 30s) or for so many
# executions (50000x), one after the other. By time, "context deadline exceeded" may end a
# run with nothing found, so tests count executions. A crash leaves its input in the package's testdata/fuzz.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=${1:?usage: fuzz.sh TIME}

targets=$(grep -r --include='*_test.go' -H -o -E '^func Fuzz[A-Za-z0-9_]*' . | sort) || { echo "no fuzz targets" >&2; exit 1; }
while IFS=: read -r file func; do
	name=${func#func }
	dir=$(dirname "$file")
	echo "fuzz $dir $name $time"
	if ! out=$(scripts/go.sh test -run '^$' -fuzz "^$name\$" -fuzztime "$time" "$dir" 2>&1 </dev/null); then
		echo "$out"
		exit 1
	fi
done <<<"$targets"
