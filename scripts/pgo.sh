#!/usr/bin/env bash
# Profiles bin/intsink and intsink-collect under the load of several rows of bin/bench/compare and
# bin/bench/collect, and merges what it finds into profiles for the compiler (go build -pgo).
#
#   scripts/pgo.sh PROFILE COLLECTORS_PROFILE
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

profile=$1 collectors=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# merge PROFILE NAME...: into PROFILE what is in files of these names.
merge() {
	local to=$1
	shift
	scripts/go.sh tool pprof -proto "$@" 2>/dev/null >"$dir/merged"
	mv "$dir/merged" "$to"
	ls -l "$to"
}

# A profile names the binary: one that stands where every machine has such a directory.
cp bin/intsink "$dir/intsink"
for row in reference sample1 explained budget sample10 busy report10 flows64k; do # most of which Go has something to do with
	bin/bench/compare --intsink "$dir/intsink" --rows "$row" --testpmd io --rounds 1 --seconds 8s --profile "$dir/$row.pprof" >/dev/null
	echo "$row: profiled"
done
merge "$profile" "$dir"/*.pprof

CGO_ENABLED=0 scripts/go.sh build -tags profile -trimpath -o "$dir/intsink-collect" ./cmd/intsink-collect
for row in clickhouse "kafka protobuf" "kafka json lz4"; do
	INTSINK_PROFILE="$dir/${row// /-}.collect" bin/bench/collect -collect "$dir/intsink-collect" -only "$row" -records 4000000 >/dev/null
	echo "$row: profiled"
done
merge "$collectors" "$dir"/*.collect
