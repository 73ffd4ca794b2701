#!/usr/bin/env bash
# Tests against the engines that records go into, which scripts/deps-engines.sh installs:
# those with the build tag engines. Stops at the first that fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/gotest.sh
export INTSINK_ENGINES=${INTSINK_ENGINES:-$PWD/bin/engines}

step "go vet"
"$go" vet -tags engines ./...

step "ClickHouse 24.8, the least: tables, every query of docs/queries.md, every panel"
INTSINK_CLICKHOUSE=24.8 gotest -tags engines -run 'TestLeastVersion' ./deploy/collect
for version in 25.8 26.7; do
	step "ClickHouse $version: the same, Kafka engine, tables of each earlier version"
	INTSINK_CLICKHOUSE=$version gotest -tags engines ./deploy/collect
done
for version in 26.3 26.9; do # whose libraries can make no table that reads Kafka
	step "ClickHouse $version: the same without Kafka's engine"
	INTSINK_CLICKHOUSE=$version gotest -tags engines -skip 'TestKafkaEngine|TestAnyRecordIsTaken' ./deploy/collect
done

step "Apache Kafka: one broker, a leader that is killed, a rolling restart, TLS, SASL and access control"
gotest -tags engines -run 'TestApacheKafka|TestLeaderIsKilled|TestRollingRestart|TestSecureKafka' ./exporters/kafka

step "IPFIX: nfdump and pmacct read the flows"
gotest -tags engines -run 'TestNfdump|TestPmacct' ./exporters/ipfix

# The short form of make faults-collect.
step "all that collect delivers to fails while reports arrive"
gotest -tags engines ./bench/faults
