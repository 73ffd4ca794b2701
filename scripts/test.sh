#!/usr/bin/env bash
# Every check of the project, in the order in which a fault shows soonest. Stops
# at the first that fails. A skipped test is a failure: what a test needs, deps.sh
# installs. Traffic stays on vdevs, loopback and namespaces of the tests' own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/packages.sh

go=scripts/go.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
exec </dev/null

step() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }

# gotest ARGS...: go test, shown as one line per package unless something fails.
# Beside other load, cmd/intsink takes longer than the 10 minutes that go test allows.
gotest() {
	if ! "$go" test -count=1 -timeout 30m -v "$@" >"$log" 2>&1; then
		grep -v -E '^(=== (RUN|PAUSE|CONT|NAME)|\s*--- PASS)' "$log" || true
		echo "failed: go test $*" >&2
		return 1
	fi
	if grep -E '^\s*--- SKIP' "$log"; then
		echo "skipped tests count as failures: go test $*" >&2
		return 1
	fi
	grep -E '^(ok|\?|Benchmark[^ ]*\s+[0-9])|no test files' "$log" || true
}

step "gofmt"
unformatted=$("$(dirname "$("$go" --find)")"/gofmt -l .)
[[ -z "$unformatted" ]] || { echo "not formatted: $unformatted" >&2; exit 1; }

step "go vet"
"$go" vet ./...

mapfile -t all < <("$go" list ./...)
mapfile -t pure < <(pure_packages)
mapfile -t pure_tests < <(pure_test_packages)

step "build without cgo: ${#pure[@]} of ${#all[@]} packages"
CGO_ENABLED=0 "$go" build "${pure[@]}"

step "arm64: what builds without cgo, and the C of engine/fast by a cross compiler"
mapfile -t arm64 < <(GOARCH=arm64 pure_packages)
mapfile -t arm64_tests < <(GOARCH=arm64 pure_test_packages)
CGO_ENABLED=0 GOARCH=arm64 "$go" build "${arm64[@]}"
CGO_ENABLED=0 GOARCH=arm64 "$go" vet "${arm64_tests[@]}"
for source in engine/fast/*.c; do
	aarch64-linux-gnu-gcc -std=c11 -O3 -Wall -Wextra -Werror -c -o /dev/null "$source"
done

step "tests"
gotest "${all[@]}"

# As on arm64: the C without vector instructions of amd64.
step "tests of the portable C of engine/fast"
CGO_CFLAGS="-O2 -DFAST_PORTABLE" gotest ./engine/fast

# As on processors without AVX2: the twins of what is in C. Slow tests of what these do not
# touch are left out.
step "tests of the twins in Go of what is in C"
gotest -tags purego -skip '^Test(Budget|Facts|HashSpreads|Slices)' ./engine/fast ./engine

# Not of the tests that only start other programs (go, tshark) and read files: in their own
# processes nothing of ours runs.
mapfile -t raced < <(printf '%s\n' "${pure_tests[@]}" | grep -v -E '/(internal/repotest|deploy/wireshark)$')
step "tests with the race detector: ${#raced[@]} packages"
gotest -race "${raced[@]}"

mapfile -t measured < <(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -n 1 dirname | sort -u)
step "benchmarks of ${#measured[@]} packages, once each"
gotest -run '^$' -bench . -benchtime 1x "${measured[@]}"

step "fuzzing of the C of engine/fast with sanitizers"
scripts/fuzz_fast.sh 1

step "fuzz targets"
scripts/fuzz.sh 50000x

step "all passed"
