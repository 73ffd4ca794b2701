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
	"os/exec"
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
	network := flags.String("network", "", "namespace and interface of the network: NAME/INTERFACE, with commas between those towards several sinks; without it, --listen alone is done where there is a --sink, else the argument is a command for the one that runs")
	sink := flags.String("sink", "", "namespace of the sink, with commas between several")
	listen := flags.String("listen", "127.0.0.1:9465", "addresses, with commas between them, that lead to the same addresses in the sink's namespace; of several sinks, one each")
	quiet := flags.Int("quiet", 0, "process of the sink that the command quiet stops, and calm has go on; 0: none")
	ifa := flags.Bool("ifa", false, "nodes write IFA, not INT")
	routers := flags.String("routers", "", "command that makes of routers of Linux, which are the nodes, what its last argument says; none: nodes are made up")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *network == "" && *sink != "":
		return lead(ctx, *sink, strings.Split(*listen, ","))
	case *network == "":
		return tell(*control, flags.Arg(0))
	}
	p := &playground{Network: scene.New(), quiet: *quiet}
	if p.IFA = *ifa; *routers != "" {
		p.OnLinux(func(word string) error { return ask(ctx, *routers, word) })
	}
	if p.Sinks = strings.Count(*network, ",") + 1; p.Sinks > 1 && strings.Count(*sink, ",")+1 != p.Sinks {
		return errors.New("--network, --sink and --listen name as many sinks, each")
	}
	return p.play(ctx, *control, strings.Split(*network, ","), strings.Split(*sink, ","), strings.Split(*listen, ","))
}

// playground is the network, and a sink that can be made to be silent.
type playground struct {
	*scene.Network
	quiet int // its process; 0: none
}

// ask runs a command with one more argument.
func ask(ctx context.Context, command, word string) error {
	args := append(strings.Fields(command), word)
	if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
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

// lead leads addresses into the namespace of a sink until ctx is done.
func lead(ctx context.Context, sink string, listen []string) error {
	for _, address := range listen {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return fmt.Errorf("%w: does another program listen there?", err)
		}
		defer l.Close()
		go forward(l, sink, address)
	}
	<-ctx.Done()
	return nil
}

// play runs the network until ctx is done.
func (p *playground) play(ctx context.Context, control string, networks, sinks, listen []string) error {
	var outs []*rawsocket.Interface
	for _, network := range networks {
		out, err := openIn(network)
		if err != nil {
			return err
		}
		defer out.Close()
		outs = append(outs, out)
	}
	for i, address := range listen {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return fmt.Errorf("%w: is another sink there? LISTEN=127.0.0.1:9565 make playground takes another address", err)
		}
		defer l.Close()
		go forward(l, sinks[min(i, len(sinks)-1)], address)
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
	defer p.hush(false)
	go p.take(commands)
	go p.prompt(os.Stdin, os.Stdout)
	return p.Play(ctx, func(frame []byte) { outs[p.Sink].Send(frame) })
}

// hush stops the process of a sink, or has it go on.
func (p *playground) hush(on bool) error {
	switch {
	case p.quiet == 0:
		return errors.New("one sink alone cannot be missed: SINKS=3 make playground has three")
	case on:
		return syscall.Kill(p.quiet, syscall.SIGSTOP)
	}
	return syscall.Kill(p.quiet, syscall.SIGCONT)
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
func (p *playground) prompt(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	for fmt.Fprint(out, "playground> "); lines.Scan(); fmt.Fprint(out, "playground> ") {
		fmt.Fprintln(out, p.answer(lines.Text()))
	}
}

// take takes one command from each connection.
func (p *playground) take(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.SetDeadline(time.Now().Add(5 * time.Second))
		if lines := bufio.NewScanner(c); lines.Scan() {
			fmt.Fprintln(c, p.answer(lines.Text()))
		}
		c.Close()
	}
}

func (p *playground) answer(line string) string {
	if line == "quiet" {
		if err := p.hush(true); err != nil {
			return err.Error()
		}
		return "Now a sink is silent. Which? calm has it go on."
	}
	if line == "calm" && p.quiet != 0 {
		p.hush(false) // one that was not silent goes on
	}
	text, err := p.Do(line)
	if err != nil {
		return err.Error()
	}
	return text
}
