package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
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

// echo sends datagrams of growing length one after another. A few may be lost,
// as UDP is; none may come back changed.
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
	answer := make([]byte, 2048)
	lost := 0
	for i := range count {
		time.Sleep(pause)
		sent := bytes.Repeat([]byte{byte(i)}, 1+i%1200)
		c.SetDeadline(time.Now().Add(time.Second))
		if _, err := c.Write(sent); err != nil {
			return err
		}
		n, err := c.Read(answer)
		if err != nil {
			lost++
			continue
		}
		if !bytes.Equal(answer[:n], sent) {
			return fmt.Errorf("datagram %d came back changed", i)
		}
	}
	if lost > count/10 {
		return errors.New(strconv.Itoa(lost) + " datagrams were lost")
	}
	fmt.Printf("udp echo: %d datagrams, %d lost, none changed\n", count, lost)
	return nil
}
