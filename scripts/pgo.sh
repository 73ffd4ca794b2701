#!/usr/bin/env bash
# Profiles bin/intsink under the load of several rows of bin/bench/compare and merges
# what it finds into a profile for the compiler (go build -pgo).
#
#   scripts/pgo.sh PROFILE
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

profile=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# A profile names the binary: one that stands where every machine has such a directory.
cp bin/intsink "$dir/intsink"
for row in reference sample1 explained budget sample10 busy report10 flows64k; do # most of which Go has something to do with
	bin/bench/compare --intsink "$dir/intsink" --rows "$row" --testpmd io --rounds 1 --seconds 8s --profile "$dir/$row.pprof" >/dev/null
	echo "$row: profiled"
done
scripts/go.sh tool pprof -proto "$dir"/*.pprof 2>/dev/null >"$dir/merged"
mv "$dir/merged" "$profile"
ls -l "$profile"
