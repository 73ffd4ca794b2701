#!/usr/bin/env bash
# gofmt, go vet, staticcheck and misspell. The last two are fetched through the Go module
# proxy and built on the first run, which takes two minutes; afterwards seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
misspell=github.com/client9/misspell/cmd/misspell@v0.3.4

gofmt=$(dirname "$(scripts/go.sh --find)")/gofmt
unformatted=$("$gofmt" -s -l .)
[[ -z "$unformatted" ]] || { echo "not formatted: $unformatted" >&2; exit 1; }
scripts/go.sh vet ./...
scripts/go.sh vet -tags engines,vm ./... # tests that make test-engines and make test-vm run
scripts/go.sh run "$staticcheck" ./...

# Modules of go.mod that have a newer release: told, as a release elsewhere is no fault of a change here.
old=$(scripts/go.sh list -m -u -f '{{if and .Update (not .Indirect)}}{{.Path}} {{.Version}}, newest is {{.Update.Version}}{{end}}' all 2>/dev/null) ||
	old="unknown: the module proxy does not answer"
[[ -z "$old" ]] || printf 'not the newest release: %s\n' "$old" >&2

# What others wrote stands in folders called vendor; ECT is a term of RFC 3168.
files() { find . -name .git -prune -o \( -name vendor -o -name testdata \) -prune -o -path ./bin -prune -o -type f \( "$@" \) -print0; }
files -name '*.go' -o -name '*.md' -o -name '*.sh' -o -name '*.hcl' -o -name '*.c' -o -name '*.h' -o -name Makefile |
	xargs -0 scripts/go.sh run "$misspell" -error -i ect
