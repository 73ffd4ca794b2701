// Package faults holds a test that makes every store that `intsink collect` writes to fail, and
// the collector itself, while report packets arrive: `make faults-collect` sends ten million
// reports, `make test-engines` fewer. At the end every report that came to the collector's
// sockets must be in ClickHouse.
//
//	sender -> intsink-collect, mode always -> Apache Kafka, three brokers -> ClickHouse 26.7
//	                                      \-> proxy -> server of ClickHouse, over HTTP
//
// Files:
//
//	faults_test.go      the faults, one after the other; compares the stores at the end
//	sender_test.go      report packets at a rate, and garbage between them
//	collector_test.go   the collector as a process: its configuration, metrics and spool
//	clickhouse_test.go  ClickHouse within a process, which reads Kafka
//	proxy_test.go       a server of ClickHouse behind a proxy that fails
package faults
