#!/usr/bin/env bash
# What one needs to trust a change: format, vet, and every test once. The longer checks are in
# check.sh. Traffic stays on vdevs, loopback and namespaces of the tests' own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/gotest.sh

step "gofmt"
unformatted=$("$(dirname "$("$go" --find)")"/gofmt -l .)
[[ -z "$unformatted" ]] || { echo "not formatted: $unformatted" >&2; exit 1; }

step "tests, with go vet"
gotest ./...

step "all passed"
