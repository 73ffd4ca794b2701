// Package gen is the command gen: INT packets written into a capture (gencapture.go) or put
// between two interfaces live (live.go). flags.go says what there is to choose and what
// contradicts, encap.go where INT stands, original.go what packets were before INT,
// stamps.go the hops' timestamps. Package engine/wire/intgen builds the packets.
package gen
