// Package udp sends report packets to a collector over the kernel's network
// stack, many datagrams per system call (sendmmsg), IPv4 without DF.
package udp
