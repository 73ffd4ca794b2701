package dut

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// StartTestpmd starts dpdk-testpmd in one forwarding mode and returns when it
// forwards.
func StartTestpmd(s *Setup, mode string) (*Testpmd, error) {
	// stdbuf: testpmd does not flush what it says into a pipe.
	n := len(s.Lcores)
	args := append([]string{"-oL", "dpdk-testpmd"}, s.ealArgs()...)
	args = append(args, "--vdev", s.Network, "--vdev", s.Host,
		"--", "--auto-start", "--no-flush-rx", "--forward-mode="+mode,
		fmt.Sprint("--burst=", Burst), fmt.Sprint("--total-num-mbufs=", s.Mbufs),
		fmt.Sprint("--nb-cores=", n), fmt.Sprint("--rxq=", n), fmt.Sprint("--txq=", n))
	ready := unattended
	if !s.Unattended {
		ready, args = prompt, append(args, "-i")
	}
	t, err := startTestpmd(exec.Command("stdbuf", args...))
	if err != nil {
		return nil, err
	}
	t.unattended = s.Unattended
	// Whatever it hangs on, the start ends.
	patience := time.AfterFunc(60*time.Second, func() { t.cmd.Process.Kill() })
	defer patience.Stop()
	if err := t.expect(ready); err != nil { // forwarding runs by then
		return nil, err
	}
	if strings.Contains(t.said.String(), "Invalid "+mode+" packet forwarding mode") {
		t.Stop()
		return nil, fmt.Errorf("testpmd has no forwarding mode %q", mode)
	}
	return t, nil
}

// Texts that testpmd prints when it forwards, with a prompt and without.
const (
	prompt     = "testpmd> "
	unattended = "Press enter to exit"
)

// ealArgs are EAL options of testpmd: those that intsink gives itself, and the
// lcores: a main one that only reads commands, and one per worker.
func (s *Setup) ealArgs() []string {
	lcores := fmt.Sprintf("0@%d", s.Control)
	for i, l := range s.Lcores {
		lcores += fmt.Sprintf(",%d@%d", i+1, l)
	}
	args := []string{"--lcores", lcores, "--no-pci", "--no-telemetry"}
	if s.Memory.huge {
		return append(args, "--in-memory")
	}
	return append(args, "--no-shconf", "--no-huge", "-m", fmt.Sprint(smallMiB(s.Mbufs)))
}

// Testpmd is a running testpmd, spoken to on its command line.
type Testpmd struct {
	cmd   *exec.Cmd
	ended func() // it needs no killing any more
	in    io.WriteCloser
	out   *bufio.Reader
	said  strings.Builder // all that it has printed

	unattended bool
}

func startTestpmd(cmd *exec.Cmd) (*Testpmd, error) {
	t := &Testpmd{cmd: cmd}
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
	t.ended, err = start(cmd)
	return t, err
}

// expect reads up to and including text.
func (t *Testpmd) expect(text string) error {
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
func (t *Testpmd) transmitted() (n uint64, at time.Time, err error) {
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

// PID is testpmd's process: stdbuf became it.
func (t *Testpmd) PID() int { return t.cmd.Process.Pid }

// Read asks for the packets that went out of the host side. An unattended
// testpmd does not tell.
func (t *Testpmd) Read() (Reading, error) {
	if t.unattended {
		return Reading{At: time.Now()}, nil
	}
	n, at, err := t.transmitted()
	return Reading{At: at, Forwarded: float64(n)}, err
}

// Stop ends testpmd, by force after 10 seconds.
func (t *Testpmd) Stop() error {
	defer t.ended()
	io.WriteString(t.in, "quit\n") // the first letter does where there is no prompt
	kill := time.AfterFunc(10*time.Second, func() { t.cmd.Process.Kill() })
	defer kill.Stop()
	io.Copy(io.Discard, t.out)
	return t.cmd.Wait()
}
