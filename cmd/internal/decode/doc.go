// Package decode is the command decode: telemetry reports out of a capture or a socket, as
// text or JSON, with the sequence numbers that are missing.
//
// A datagram goes from source.go (finds it) to printer.go (decodes and prints it, counts) and
// streams.go (watches its sequence number); text.go is the text form, command.go the flags.
package decode
