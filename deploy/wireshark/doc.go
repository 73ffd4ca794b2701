// Package wireshark holds the tests of the Wireshark dissector in this folder,
// intsink.lua. It has no code of its own.
package wireshark
