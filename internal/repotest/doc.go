// Package repotest holds tests of the repository as a whole: who imports whom,
// where cgo and unsafe are, what must have a doc comment, and that the documents
// name commands and files that exist. It has no code of its own.
package repotest
