// The command line: flags of the network, or a word for one that runs.

// Command playground is the network of `make playground`: it sends the packets of package scene out of
// an interface in a network namespace, takes commands from the terminal and from a socket, and makes the sink's page, which
// is in another namespace, reachable from this machine.
//
//	main.go      flags; the network and its commands
//	forward.go   from an address of this namespace into the sink's
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"intsink/deploy/playground/scene"
	"intsink/internal/rawsocket"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("playground", flag.ContinueOnError)
	control := flags.String("control", "/run/intsink-playground.sock", "the socket on which commands are taken")
	network := flags.String("network", "", "namespace and interface of the network: NAME/INTERFACE; without it, the argument is a command for the one that runs")
	sink := flags.String("sink", "", "namespace of the sink")
	listen := flags.String("listen", "127.0.0.1:9465", "addresses, with commas between them, that lead to the same addresses in the sink's namespace")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *network == "" {
		return tell(*control, flags.Arg(0))
	}
	return play(ctx, *control, *network, *sink, *listen)
}

// tell gives a command to the playground that runs.
func tell(control, word string) error {
	c, err := net.Dial("unix", control)
	if err != nil {
		return fmt.Errorf("no playground runs (%w): start it by make playground", err)
	}
	defer c.Close()
	fmt.Fprintln(c, word)
	_, err = io.Copy(os.Stdout, c)
	return err
}

// play runs the network until ctx is done.
func play(ctx context.Context, control, network, sink, listen string) error {
	out, err := openIn(network)
	if err != nil {
		return err
	}
	defer out.Close()
	for _, address := range strings.Split(listen, ",") {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return fmt.Errorf("%w: is another sink there? LISTEN=127.0.0.1:9565 make playground takes another address", err)
		}
		defer l.Close()
		go forward(l, sink, address)
	}
	if c, err := net.Dial("unix", control); err == nil {
		c.Close()
		return errors.New("another playground runs: end it first")
	}
	os.Remove(control) // one that died left it
	commands, err := net.Listen("unix", control)
	if err != nil {
		return err
	}
	defer commands.Close()
	n := scene.New()
	go take(commands, n)
	go prompt(n, os.Stdin, os.Stdout)
	return n.Play(ctx, func(frame []byte) { out.Send(frame) })
}

// openIn opens an interface of another namespace: NAME/INTERFACE.
func openIn(network string) (out *rawsocket.Interface, err error) {
	name, iface, err := split(network)
	if err != nil {
		return nil, err
	}
	if e := inside(name, func() { out, err = rawsocket.Open(iface) }); e != nil {
		return nil, e
	}
	return out, err
}

// prompt takes commands from a terminal.
func prompt(n *scene.Network, in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	for fmt.Fprint(out, "playground> "); lines.Scan(); fmt.Fprint(out, "playground> ") {
		fmt.Fprintln(out, answer(n, lines.Text()))
	}
}

// take takes one command from each connection.
func take(l net.Listener, n *scene.Network) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.SetDeadline(time.Now().Add(5 * time.Second))
		if lines := bufio.NewScanner(c); lines.Scan() {
			fmt.Fprintln(c, answer(n, lines.Text()))
		}
		c.Close()
	}
}

func answer(n *scene.Network, line string) string {
	text, err := n.Do(line)
	if err != nil {
		return err.Error()
	}
	return text
}
