// Package collect holds the tests of the files in this folder and of docs/queries.md, which
// run in ClickHouse: `make test-engines`. It has no code of its own.
package collect
