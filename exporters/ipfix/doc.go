// Package ipfix exports reports as data records of IPFIX (RFC 7011) over UDP or TCP, to collectors of flows.
//
// The node that reports is the observation domain. Each domain has templates and sequence numbers of its own (session.go),
// and both begin again with each session: a TCP connection, or a UDP socket.
//
// TCP: a delivery has arrived when the other end has acknowledged its bytes (SIOCOUTQ). UDP: when the other host has not
// refused it for a moment. What had not arrived when a session ends is sent again in the next one.
package ipfix
