// Package jsonl writes records as JSON Lines: one object a line, to a file that is
// rotated, to standard output, or to a unix socket.
package jsonl
