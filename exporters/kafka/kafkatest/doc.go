// Package kafkatest starts brokers of Apache Kafka (KRaft, no ZooKeeper) in processes of
// their own, for tests that scripts/test-engines.sh runs.
package kafkatest
