// Package packet finds the headers of an Ethernet frame in one pass: where
// Ethernet, VLAN tags, IPv4 or IPv6, and TCP or UDP start and end. It copies
// nothing and believes no length that the frame does not cover.
package packet
