// Package collect holds the files that belong to `intsink collect`: the schema of records
// for Kafka's consumers and ClickHouse, and what is installed with it.
package collect

import "embed"

// Files are those of this folder.
//
//go:embed *
var Files embed.FS
