package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
)

func echoServer(addr string) {
	c, err := net.ListenPacket("udp", addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "traffic: echo:", err)
		return
	}
	b := make([]byte, 65536)
	for {
		n, from, err := c.ReadFrom(b)
		if err != nil {
			return
		}
		c.WriteTo(b[:n], from)
	}
}

// numbered is the datagram with number i: its length and its bytes tell the number.
func numbered(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 1+i%1200) }

// awaited reads until datagram i comes back. What comes late, of a datagram before it, is passed over, unless it is
// changed.
func awaited(c net.Conn, i int) error {
	b := make([]byte, 2048)
	for {
		n, err := c.Read(b)
		if err != nil {
			return err
		}
		if bytes.Equal(b[:n], numbered(i)) {
			return nil
		}
		late := false
		for j := i - 1; j >= 0 && !late; j-- {
			late = bytes.Equal(b[:n], numbered(j))
		}
		if !late {
			return fmt.Errorf("a datagram came back changed while number %d was awaited: %d bytes that begin with %x", i, n, b[:min(n, 16)])
		}
	}
}

// echo sends datagrams of growing length one after another. A few may be lost or late,
// as in UDP; none may come back changed.
func echo(args []string) error {
	count, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	pause, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	c, err := net.Dial("udp", args[0])
	if err != nil {
		return err
	}
	defer c.Close()
	lost := 0
	for i := range count {
		time.Sleep(pause)
		c.SetDeadline(time.Now().Add(time.Second))
		if _, err := c.Write(numbered(i)); err != nil {
			return err
		}
		if err := awaited(c, i); errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.ECONNREFUSED) {
			lost++
		} else if err != nil {
			return err
		}
	}
	if lost > count/10 {
		return errors.New(strconv.Itoa(lost) + " datagrams were lost")
	}
	fmt.Printf("udp echo: %d datagrams, %d lost, none changed\n", count, lost)
	return nil
}
