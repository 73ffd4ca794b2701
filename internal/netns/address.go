package netns

import (
	"fmt"
	"net"
	"os"
	"testing"
)

// FreeAddress returns an address with a free TCP port for a program under test. It is on
// loopback, with an IP address that only tests of this process use: nothing else takes the port
// before the program does.
func FreeAddress(t testing.TB) string {
	t.Helper()
	pid := os.Getpid() // of 22 bits at most
	l, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 1+(pid>>14)%254, (pid>>6)&0xff, 1+pid&0x3f))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
