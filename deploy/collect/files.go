// Package collect holds the files that belong to `intsink collect`: the schema of records
// for Kafka's consumers and ClickHouse, and what is installed with it. Its tests run in
// ClickHouse: `make test-engines`.
package collect

import "embed"

// Files are those of this folder, its tests aside.
//
//go:embed *.sql *.proto *.hcl
var Files embed.FS
