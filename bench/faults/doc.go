// Package faults holds a test that lets everything fail that `intsink collect` delivers to,
// and the collector itself, while report packets arrive: `make faults-collect` sends ten
// million reports, `make test-engines` fewer. Every report has to be in ClickHouse at the end
// that came to the collector's sockets.
//
//	sender -> intsink-collect, mode always -> Apache Kafka, three brokers -> ClickHouse 26.7
//	                                      \-> proxy -> server of ClickHouse, over HTTP
//
// Files:
//
//	faults_test.go      what fails, one thing after the other; what has to be there at the end
//	sender_test.go      report packets at a rate, and garbage between them
//	collector_test.go   the collector as a process: its configuration, metrics and spool
//	clickhouse_test.go  ClickHouse within a process, which reads Kafka
//	proxy_test.go       a server of ClickHouse behind a proxy that fails
package faults
