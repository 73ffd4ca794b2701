// holder: which process has a UDP port, for the error of a second one.

package collect

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// holder returns " by process N", the one that has the UDP port of address, as /proc shows it; "" where it
// does not: the process is another user's, or in another container.
func holder(address string) string {
	_, digits, err := net.SplitHostPort(address)
	port, numErr := strconv.ParseUint(digits, 10, 16)
	if err != nil || numErr != nil {
		return ""
	}
	inodes := map[string]bool{}
	for _, table := range []string{"/proc/net/udp", "/proc/net/udp6"} {
		b, _ := os.ReadFile(table)
		for line := range bytes.Lines(b) { //   12: 0100007F:216B 00000000:0000 07 ... uid timeout inode
			f := strings.Fields(string(line))
			if len(f) > 9 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
				inodes["socket:["+f[9]+"]"] = true
			}
		}
	}
	open, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range open {
		if to, err := os.Readlink(fd); err == nil && inodes[to] {
			return " by process " + strings.Split(fd, "/")[2]
		}
	}
	return ""
}
