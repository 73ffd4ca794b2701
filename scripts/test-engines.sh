#!/usr/bin/env bash
# Tests against the engines that records go into, which scripts/deps-engines.sh installs:
# those with the build tag engines. One step each; stops at the first that fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

go=scripts/go.sh
export INTSINK_ENGINES=${INTSINK_ENGINES:-$PWD/bin/engines}
exec </dev/null

# step NAME ARGS...: go test ARGS with the tag; a skipped test is a failure.
step() {
	local name=$1 log
	shift
	printf '\n== %s (%d s)\n' "$name" "$SECONDS"
	log=$("$go" test -count=1 -v -tags engines "$@" 2>&1) || { grep -v -E '^(=== |\s*--- PASS)' <<<"$log"; exit 1; }
	if grep -E '^\s*--- SKIP' <<<"$log"; then
		echo "skipped tests count as failures" >&2
		exit 1
	fi
	grep -E '^ok' <<<"$log"
}

printf '\n== go vet (%d s)\n' "$SECONDS"
"$go" vet -tags engines ./...

step "ClickHouse: tables, Kafka engine, every query of docs/queries.md" ./deploy/collect

step "Apache Kafka: one broker, a leader that is killed, a rolling restart, TLS, SASL and access control" \
	-timeout 20m -run 'TestApacheKafka|TestLeaderIsKilled|TestRollingRestart|TestSecureKafka' ./exporters/kafka

# The short form of make faults-collect.
step "all that collect delivers to fails while reports arrive" -timeout 30m ./bench/faults
