// Package decode is the command decode: telemetry reports out of a capture or a socket, as
// records, JSON or text, with the sequence numbers that are missing.
//
// A datagram goes from reportinput.go (finds it) to printer.go (makes records of it and prints them,
// counts) and streams.go (watches its sequence number); strict.go tells what is no report,
// guess.go INT that no flag names; rawheaders.go has what JSON shows besides a record, recordtext.go the text
// form, command.go the flags.
package decode
