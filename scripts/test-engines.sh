#!/usr/bin/env bash
# Tests against the engines that records go into, which scripts/deps-engines.sh installs:
# those with the build tag engines. Stops at the first that fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/gotest.sh
export INTSINK_ENGINES=${INTSINK_ENGINES:-$PWD/bin/engines}

step "ClickHouse 24.8, the least: tables, every query of docs/queries.md, every panel"
INTSINK_CLICKHOUSE=24.8 gotest -tags engines -run 'TestLeastVersion' ./deploy/collect
step "ClickHouse 25.8: the same, Kafka's engine, tables of each earlier version, all else"
INTSINK_CLICKHOUSE=25.8 gotest -tags engines -skip TestSparseNulls ./deploy/collect # 25.12 is the first with that
# With the others what may differ by version: every statement that ships, and the longest way of an upgrade. The libraries of two can
# make no table that reads Kafka; 26.3 ends an INSERT ... SELECT that comes twice with a logical error of its own, which no test but that of
# the least version asks for (TestBlockThatComesTwice sends it as collect does).
once='TestLeastVersion|TestFleet|TestOwnClickHouse|TestTablesOfEarlierVersions/[0-9a-f]{7}'
for version in 26.7 26.3 26.9; do
	step "ClickHouse $version: every statement that ships, the oldest tables"
	skip=$once
	[[ $version == 26.7 ]] || skip="$once|TestKafkaEngine|TestAnyRecordIsTaken"
	INTSINK_CLICKHOUSE=$version gotest -tags engines -skip "$skip" ./deploy/collect
done

step "what was last week, over all sinks"
gotest -tags engines -run 'LastWeek|StoreWhereNoSinkAnswers' ./cmd/internal/allsinks

step "Apache Kafka: one broker, a leader that is killed, a rolling restart, TLS, SASL and access control"
gotest -tags engines -run 'TestApacheKafka|TestBrokersThatEnd|TestSecureKafka' ./exporters/kafka

step "IPFIX: nfdump and pmacct read the flows"
gotest -tags engines -run 'TestNfdump|TestPmacct' ./exporters/ipfix

# The short form of make faults-collect.
step "all that collect delivers to fails while reports arrive"
gotest -tags engines ./bench/faults
