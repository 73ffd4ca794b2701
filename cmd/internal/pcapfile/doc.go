// Package pcapfile reads pcap and pcapng files, keeping account of what cannot be read, and
// writes captures.
package pcapfile
