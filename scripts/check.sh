#!/usr/bin/env bash
# The longer checks: builds without cgo and for arm64, portable C, the race detector, benchmarks
# once each, fuzzing. Stops at the first that fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/packages.sh
source scripts/gotest.sh

mapfile -t pure < <(pure_packages)
mapfile -t pure_tests < <(pure_test_packages)

step "go vet"
"$go" vet ./...

step "build without cgo: ${#pure[@]} packages"
CGO_ENABLED=0 "$go" build "${pure[@]}"

step "arm64: what builds without cgo, and the C of engine/fast by a cross compiler"
mapfile -t arm64 < <(GOARCH=arm64 pure_packages)
mapfile -t arm64_tests < <(GOARCH=arm64 pure_test_packages)
CGO_ENABLED=0 GOARCH=arm64 "$go" build "${arm64[@]}"
CGO_ENABLED=0 GOARCH=arm64 "$go" vet "${arm64_tests[@]}"
for source in engine/fast/*.c; do
	aarch64-linux-gnu-gcc -std=c11 -O3 -Wall -Wextra -Werror -c -o /dev/null "$source"
done

# As on arm64: the C without vector instructions of amd64.
step "tests of the portable C of engine/fast"
CGO_CFLAGS="-O2 -DFAST_PORTABLE" gotest ./engine/fast

# Not of the tests that only start other programs (go, tshark) and read files: in their own
# processes nothing of ours runs.
mapfile -t raced < <(printf '%s\n' "${pure_tests[@]}" | grep -v -E '/(internal/repotest|deploy/wireshark)$')
step "tests with the race detector: ${#raced[@]} packages"
gotest -race "${raced[@]}"

mapfile -t measured < <(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -n 1 dirname | sort -u)
step "benchmarks of ${#measured[@]} packages, once each"
gotest -run '^$' -bench . -benchtime 1x "${measured[@]}"

step "search of bench/throughput.py"
scripts/deps.sh bench
PYTHONPATH=bin/bench/python PYTHONDONTWRITEBYTECODE=1 python3 bench/throughput_test.py

step "fuzzing of the C of engine/fast with sanitizers"
scripts/fuzz_fast.sh 1

step "fuzz targets"
scripts/fuzz.sh 20000x

step "all passed"
