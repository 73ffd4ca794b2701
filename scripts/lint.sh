#!/usr/bin/env bash
# gofmt, go vet and staticcheck. Not part of `make test`: it downloads staticcheck.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2

gofmt=$(dirname "$(scripts/go.sh --find)")/gofmt
unformatted=$("$gofmt" -s -l .)
[[ -z "$unformatted" ]] || { echo "not formatted: $unformatted" >&2; exit 1; }
scripts/go.sh vet ./...
scripts/go.sh run "$staticcheck" ./...
