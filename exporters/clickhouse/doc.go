// Package clickhouse inserts records into a table of ClickHouse over HTTP, in format Native: column by column.
//
// Records are gathered into blocks. A block that fails is sent again unchanged, under the
// same insert_deduplication_token: a table that keeps tokens stores it once, even where only
// the answer was lost.
package clickhouse
