package main

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// TestAwaited: a datagram that comes late is none that was changed.
func TestAwaited(t *testing.T) {
	far, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	c, err := net.Dial("udp", far.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	changed := numbered(7)
	changed[3]++
	for name, s := range map[string]struct {
		comes []([]byte)
		want  string // a part of the error
	}{
		"itself":             {[][]byte{numbered(7)}, ""},
		"behind late ones":   {[][]byte{numbered(5), numbered(0), numbered(6), numbered(7)}, ""},
		"changed":            {[][]byte{changed}, "8 bytes that begin with 0707070807070707"},
		"behind a late one":  {[][]byte{numbered(6), changed}, "came back changed while number 7 was awaited"},
		"cut":                {[][]byte{numbered(7)[:6]}, "6 bytes"},
		"before it was sent": {[][]byte{numbered(8)}, "9 bytes"},
		"empty":              {[][]byte{{}}, "0 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, b := range s.comes {
				if _, err := far.WriteTo(b, c.LocalAddr()); err != nil {
					t.Fatal(err)
				}
			}
			c.SetReadDeadline(time.Now().Add(time.Minute))
			if err := awaited(c, 7); (err == nil) != (s.want == "") || err != nil && !strings.Contains(err.Error(), s.want) {
				t.Errorf("%v, want %q", err, s.want)
			}
		})
	}
	c.SetReadDeadline(time.Now())
	if err := awaited(c, 7); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nothing came, but %v", err)
	}
}
