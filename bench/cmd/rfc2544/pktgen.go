package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"intsink/bench/internal/results"
)

// pktgen is a running Pktgen-DPDK. It takes Lua on its TCP socket, line by line,
// but prints what Lua prints on its own screen (23.06), so that has to be a pipe
// to us.
type pktgen struct {
	conn    net.Conn
	cmd     *exec.Cmd
	answers chan answer
	asked   int
	tx, rx  int // its ports
}

// answer holds the numbers that one trial printed.
type answer struct{ number, sent, received uint64 }

// lua is one trial. The counters are read twice a second by Pktgen: it waits.
const lua = `do local function count(p, k) return pktgen.portStats(tostring(p), "port")[p][k] end; ` +
	`pktgen.set("%[1]d", "rate", "%.6[3]f"); local t, r = count(%[1]d, "opackets"), count(%[2]d, "ipackets"); ` +
	`pktgen.start("%[1]d"); pktgen.delay(%[4]d); pktgen.stop("%[1]d"); pktgen.delay(2500); ` +
	`print(string.format("\nrfc2544 %[5]d sent %%d received %%d end", count(%[1]d, "opackets") - t, count(%[2]d, "ipackets") - r)) end` + "\n"

var answered = regexp.MustCompile(`rfc2544 (\d+) sent (\d+) received (\d+) end`)

// startPktgen runs command, a shell command that starts Pktgen-DPDK with -G, and
// connects to address.
func startPktgen(command, address string, tx, rx int) (*pktgen, error) {
	p := &pktgen{tx: tx, rx: rx, answers: make(chan answer, 1)}
	p.cmd = exec.Command("script", "-qefc", command, "/dev/null") // it wants a terminal
	screen, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if _, err := p.cmd.StdinPipe(); err != nil { // open, and silent
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	said := make(chan string, 1)
	go func() { said <- readAnswers(screen, p.answers) }()
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		if p.conn, err = net.Dial("tcp", address); err == nil {
			return p, nil
		}
		select {
		case s := <-said:
			return nil, fmt.Errorf("pktgen ended early; it said:\n%s", s)
		default:
		}
		if time.Since(start) > time.Minute {
			return nil, errors.Join(err, p.close())
		}
	}
}

// readAnswers passes on the answers in what is printed until it ends, and returns
// the last of it.
func readAnswers(screen io.Reader, answers chan<- answer) (last string) {
	lines := bufio.NewReader(screen)
	var kept []string
	for {
		line, err := lines.ReadString('\n')
		if m := answered.FindStringSubmatch(line); m != nil {
			var a answer
			for i, field := range []*uint64{&a.number, &a.sent, &a.received} {
				*field, _ = strconv.ParseUint(m[i+1], 10, 64)
			}
			answers <- a
		}
		if kept = append(kept, line); len(kept) > 20 {
			kept = kept[1:]
		}
		if err != nil {
			close(answers)
			return strings.Join(kept, "")
		}
	}
}

var errSilent = errors.New("pktgen sent nothing: is the device under test connected?")

// waitUntilItSends gives the links time to come up.
func (p *pktgen) waitUntilItSends(limit time.Duration) error {
	for start := time.Now(); ; {
		_, err := p.try(1, time.Second)
		if !errors.Is(err, errSilent) || time.Since(start) > limit {
			return err
		}
	}
}

// try sends for d at a part of the link's speed.
func (p *pktgen) try(percent float64, d time.Duration) (trial, error) {
	p.asked++
	if _, err := fmt.Fprintf(p.conn, lua, p.tx, p.rx, percent, d.Milliseconds(), p.asked); err != nil {
		return trial{}, err
	}
	patience := time.NewTimer(d + 20*time.Second)
	defer patience.Stop()
	for {
		select {
		case a, ok := <-p.answers:
			switch {
			case !ok:
				return trial{}, errors.New("pktgen ended")
			case a.number != uint64(p.asked):
				continue
			case a.sent == 0:
				return trial{}, errSilent
			}
			lost := float64(a.sent) - min(float64(a.received), float64(a.sent))
			return trial{Rate: float64(a.sent) / d.Seconds(), Loss: lost / float64(a.sent)}, nil
		case <-patience.C:
			return trial{}, errors.New("pktgen does not answer; does it run with -G, and are its ports numbered as --pktgen-ports says?")
		}
	}
}

// close ends pktgen.
func (p *pktgen) close() error {
	if p.conn != nil {
		fmt.Fprintln(p.conn, "pktgen.quit()")
		p.conn.Close()
	}
	kill := time.AfterFunc(5*time.Second, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	p.cmd.Wait() // the exit status has nothing to do with the trials
	return nil
}

// withPktgen searches for the device between two ports of Pktgen, which runs
// already. Rates are percent of the link's speed.
func (o *options) withPktgen() error {
	var tx, rx int
	if _, err := fmt.Sscanf(o.pktgenPorts, "%d,%d", &tx, &rx); err != nil {
		return fmt.Errorf("--pktgen-ports %q: two numbers, of the port that sends and of the one that receives", o.pktgenPorts)
	}
	p, err := startPktgen(o.pktgen, o.pktgenAddress, tx, rx)
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.waitUntilItSends(30 * time.Second); err != nil {
		return err
	}
	cells := [][]string{{"loss", "Mpps", "percent of the link"}}
	for _, loss := range losses {
		var percent float64 // of the best trial
		s := search{top: 100, loss: loss, resolution: o.resolution, tries: o.tries, try: func(rate float64) (trial, error) {
			t, err := p.try(rate, o.seconds)
			fmt.Printf("    %6.2f %%: %6.2f Mpps offered, %.4f %% lost\n", rate, t.Rate/1e6, 100*t.Loss)
			if err == nil && t.Loss <= loss {
				percent = max(percent, rate)
			}
			return t, err
		}}
		best, ok, err := s.run()
		if err != nil {
			return err
		}
		line := []string{fmt.Sprintf("%g %%", 100*loss), "none", "none"}
		if ok {
			line[1], line[2] = mpps(best.Rate), fmt.Sprintf("%.2f", percent)
		}
		cells = append(cells, line)
	}
	fmt.Print("\n", results.Table(cells))
	return nil
}
