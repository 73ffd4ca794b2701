// Package clickhouse inserts records into a table of ClickHouse over HTTP, as JSONEachRow.
//
// Records are gathered into blocks. A block that fails is sent again as it was, under the
// same insert_deduplication_token, so that a table that keeps tokens takes it once, even
// where only the answer was lost.
package clickhouse
