package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// runTestpmd measures dpdk-testpmd in one forwarding mode.
func runTestpmd(s *setup, mode string) (packetsPerSecond float64, err error) {
	// stdbuf: testpmd does not flush what it says into a pipe.
	args := append([]string{"-oL", "dpdk-testpmd"}, s.ealArgs()...)
	args = append(args, "-l", fmt.Sprintf("%d,%d", s.control, s.lcore),
		"--vdev", s.networkVdev(), "--vdev", hostVdev,
		"--", "-i", "--auto-start", "--no-flush-rx", "--forward-mode="+mode,
		fmt.Sprint("--burst=", burst), fmt.Sprint("--total-num-mbufs=", s.mbufs), "--nb-cores=1")
	// Whatever it hangs on, the run ends.
	ctx, cancel := context.WithTimeout(context.Background(), s.warmup+s.measure+30*time.Second)
	defer cancel()
	t, err := startTestpmd(exec.CommandContext(ctx, "stdbuf", args...))
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := t.quit(); err == nil {
			err = e
		}
	}()
	if err := t.expect("testpmd> "); err != nil { // forwarding runs by then
		return 0, err
	}
	if !strings.Contains(t.said.String(), "Set "+mode+" packet forwarding mode") {
		return 0, fmt.Errorf("testpmd has no forwarding mode %q", mode)
	}
	time.Sleep(s.warmup)
	n0, t0, err := t.transmitted()
	if err != nil {
		return 0, err
	}
	time.Sleep(s.measure)
	n1, t1, err := t.transmitted()
	if err != nil {
		return 0, err
	}
	if n1 == n0 {
		return 0, fmt.Errorf("forwards nothing; it said:\n%s", t.said.String())
	}
	return float64(n1-n0) / t1.Sub(t0).Seconds(), nil
}

// testpmd is a running testpmd, spoken to on its command line.
type testpmd struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said strings.Builder // all it printed
}

func startTestpmd(cmd *exec.Cmd) (*testpmd, error) {
	t := &testpmd{cmd: cmd}
	var err error
	if t.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	t.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return t, nil
}

// expect reads up to and including text.
func (t *testpmd) expect(text string) error {
	from := t.said.Len()
	for !strings.HasSuffix(t.said.String()[from:], text) {
		b, err := t.out.ReadByte()
		if err != nil {
			return fmt.Errorf("testpmd ended early (`make deps` installs it); it said:\n%s", t.said.String())
		}
		t.said.WriteByte(b)
	}
	return nil
}

var txPackets = regexp.MustCompile(`TX-packets:\s+(\d+)`)

// transmitted asks how many packets went out of the host side (port 1), and
// when that was.
func (t *testpmd) transmitted() (n uint64, at time.Time, err error) {
	from := t.said.Len()
	at = time.Now()
	if _, err := io.WriteString(t.in, "show port stats 1\n"); err != nil {
		return 0, at, err
	}
	if err := t.expect("Tx-pps:"); err != nil {
		return 0, at, err
	}
	m := txPackets.FindStringSubmatch(t.said.String()[from:])
	if m == nil {
		return 0, at, fmt.Errorf("no TX-packets in:\n%s", t.said.String()[from:])
	}
	n, err = strconv.ParseUint(m[1], 10, 64)
	return n, at, err
}

// quit ends testpmd, by force after 10 seconds.
func (t *testpmd) quit() error {
	io.WriteString(t.in, "quit\n")
	kill := time.AfterFunc(10*time.Second, func() { t.cmd.Process.Kill() })
	defer kill.Stop()
	io.Copy(io.Discard, t.out)
	return t.cmd.Wait()
}
