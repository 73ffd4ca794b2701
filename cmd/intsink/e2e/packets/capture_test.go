package packets_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
	"intsink/internal/rawsocket"
)

// captured is a capture command that runs.
type captured struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr bytes.Buffer
	file   string
}

// startCapture begins a capture of r and waits until it runs.
func startCapture(t *testing.T, r *sinktest.Sink, socket string, args ...string) *captured {
	t.Helper()
	return startCaptureInto(t, r, socket, filepath.Join(t.TempDir(), "c.pcapng"), args...)
}

// startCaptureInto is startCapture into a file.
func startCaptureInto(t *testing.T, r *sinktest.Sink, socket, file string, args ...string) *captured {
	t.Helper()
	r.Wait(t, "the end of the capture before", func(p observetest.Exposition) bool { return p.Series["intsink_capture_running"] == 0 })
	if !slices.Contains(args, "--seconds") {
		args = append(args, "--seconds", "3600")
	}
	c := &captured{t: t, file: file}
	for !c.started(r, append([]string{"capture", "--socket", socket, "-w", c.file}, args...)) {
		t.Log("the sink has not yet let go of the capture before")
	}
	return c
}

// started starts the command, and waits until it captures, or has ended. False: another one runs.
func (c *captured) started(r *sinktest.Sink, args []string) bool {
	c.t.Helper()
	c.cmd = exec.Command(os.Args[0], args...)
	c.cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	c.stderr.Reset()
	c.cmd.Stderr = &c.stderr
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { c.cmd.Process.Kill() })
	over := false // a short one may be, before it is seen
	r.Wait(c.t, "a capture", func(p observetest.Exposition) bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
		over = strings.Contains(string(stat), ") Z ")
		return over || p.Series["intsink_capture_running"] == 1
	})
	if over {
		if text, _ := os.ReadFile(c.file); len(text) == 0 {
			if c.cmd.Wait(); !strings.Contains(c.stderr.String(), "a capture runs already") {
				c.t.Fatal(&c.stderr)
			}
			return false
		}
	}
	return true
}

// ended waits for the end, and returns the fields of each packet as tshark reads them.
func (c *captured) ended(says string) (fields [][]string) {
	c.t.Helper()
	if err := c.cmd.Wait(); err != nil || !strings.Contains(c.stderr.String(), says) {
		c.t.Fatalf("%v: %s; want %q", err, &c.stderr, says)
	}
	cmd := exec.Command("tshark", "-n", "-r", c.file, "-T", "fields", "-E", "separator=|", "-e", "frame.interface_name",
		"-e", "frame.packet_flags_direction", "-e", "udp.dstport", "-e", "frame.len", "-e", "frame.comment", "-e", "_ws.malformed")
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("tshark: %v", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields = append(fields, strings.Split(line, "|"))
	}
	return fields
}

// captureLab is a sink between two interfaces, whose other ends the test has.
func captureLab(t *testing.T) (r *sinktest.Sink, socket string, network, host *rawsocket.Interface) {
	t.Helper()
	text, socket := sinktest.AddSocket(t, sinktest.InLine(t))
	r = sinktest.Start(t, strings.Replace(text, `watch "all" { sample = 100 }`, `watch "all" {}`, 1)) // a sample would have one more event
	r.Ready(t)
	return r, socket, sinktest.OpenWire(t, "a-near"), sinktest.OpenWire(t, "b-far")
}

// TestCapture over kernel interfaces: INT in, stripped out, read back by tshark and by our own
// reader; filters, bounds, and readers that go away or cannot write.
func TestCapture(t *testing.T) {
	if !netns.In(t) {
		return
	}
	r, socket, network, host := captureLab(t)
	var arrived atomic.Int64
	sinktest.Receive(t, host, func([]byte) { arrived.Add(1) })
	send := func(from *rawsocket.Interface, frames ...[]byte) {
		for _, f := range frames {
			if !sinktest.Eventually(func() bool { return from.Send(f) }) {
				t.Fatal("a frame could not be sent")
			}
		}
	}
	var frames [][]byte
	for i := range 20 {
		frames = append(frames, sinktest.IntFrame(t, i))
	}

	c := startCapture(t, r, socket, "--count", "40")
	stdout, stderr, code := sinktest.Run(t, "capture", "--socket", socket, "-w", c.file+"2")
	if _, err := os.Stat(c.file + "2"); code != 1 || !strings.Contains(stderr, "a capture runs already") || err == nil {
		t.Errorf("a second one: exit code %d, %s%s, %v", code, stdout, stderr, err)
	}
	send(network, frames...)
	fields := c.ended("40 packets in " + c.file + "; ended: --count is reached")
	packets := sinktest.PacketsOf(t, c.file)
	if len(fields) != 40 || len(packets) != 40 {
		t.Fatalf("tshark reads %d packets, we %d, want 40", len(fields), len(packets))
	}
	in, out := 0, 0
	for i, f := range fields {
		want := []string{"network", "0x00000001", "5000", fmt.Sprint(len(frames[0])), "stage=in direction=to_host watch=all events=new_flow", ""}
		data := frames[min(in, 19)]
		if f[0] == "host" {
			want = []string{"host", "0x00000002", "8000", fmt.Sprint(len(sinktest.HostFrame(0))), "stage=out direction=to_host watch=all events=new_flow", ""}
			data = sinktest.HostFrame(min(out, 19))
			out++
		} else {
			in++
		}
		if strings.Join(f, "|") != strings.Join(want, "|") {
			t.Errorf("packet %d: tshark reads %q, want %q", i, f, want)
		}
		if !bytes.Equal(packets[i].Data, data) {
			t.Errorf("packet %d is\n%x, want\n%x", i, packets[i].Data, data)
		}
		if i > 0 && packets[i].At < packets[i-1].At || packets[i].At+sinktest.CaptureStart < time.Now().Add(-time.Hour).UnixNano() {
			t.Errorf("packet %d has the time %d", i, packets[i].At)
		}
	}
	if in != 20 || out != 20 {
		t.Errorf("%d as they came, %d as they left", in, out)
	}

	c = startCapture(t, r, socket, "--count", "2", "--destination", "10.1.0.1", "--source", "10.0.0.3", "--stage", "out")
	send(network, frames...)
	if !sinktest.Eventually(func() bool { return arrived.Load() == int64(2*len(frames)) }) { // or the ports are received from in either order
		t.Fatalf("%d packets arrived, want %d", arrived.Load(), 2*len(frames))
	}
	send(host, sinktest.HostFrame(3))
	if fields = c.ended("--count is reached"); len(fields) != 2 || fields[0][0] != "host" || fields[1][0] != "network" || !strings.HasPrefix(fields[1][4], "stage=out direction=to_network") {
		t.Errorf("by match: %q", fields)
	}

	c = startCapture(t, r, socket, "--seconds", "4", "--event", "leak")
	send(network, frames...)
	if fields = c.ended("0 packets in " + c.file + "; ended: the time is over"); len(fields) != 1 || fields[0][0] != "" {
		t.Errorf("by an event that no packet has: %q", fields)
	}

	malformed := sinktest.IntFrame(t, 1)
	malformed[43] = 0xff // the shim's Length
	c = startCapture(t, r, socket, "--count", "2", "--reason", "shim_length,udp_length")
	send(network, frames[1], malformed)
	if fields = c.ended("--count is reached"); len(fields) != 2 || !strings.HasSuffix(fields[0][4], "events=malformed malformed=shim_length") {
		t.Errorf("by reason: %q", fields)
	}

	c = startCapture(t, r, socket, "--seconds", "3600") // which loses its reader
	c.cmd.Process.Kill()
	c.cmd.Wait()
	r.Wait(t, "the end of a capture whose reader has gone", func(p observetest.Exposition) bool { return p.Series["intsink_capture_running"] == 0 })
	into := func(file, seconds string) (stderr string, code int) { // once the sink has let go of the capture before
		sinktest.Eventually(func() bool {
			_, stderr, code = sinktest.Run(t, "capture", "--socket", socket, "-w", file, "--seconds", seconds)
			return !strings.Contains(stderr, "a capture runs already")
		})
		return stderr, code
	}
	if stderr, code := into("/dev/full", "20"); code != 1 || !strings.Contains(stderr, "/dev/full cannot be written: no space left on device") {
		t.Errorf("a full disk: exit code %d, %s", code, stderr)
	}
	captureIntoLittleRoom(t, r, socket, func() { send(network, frames...) })
	captureByWatchAndRate(t, r, socket, func() { send(network, frames...) })
	for flags, want := range map[string]string{"--watch=al": `--watch: there is no watch "al": must be all`, "--link=x": `--link: there is no link or tap "x": must be edge`} {
		if _, stderr, code := sinktest.Run(t, "capture", "--socket", socket, "-w", c.file+"3", flags); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %s", flags, code, stderr)
		}
	}
	captureBefore(t, socket, frames)
	send(network, frames...)
	p := r.Balanced(t)
	if n := p.Series["intsink_capture_packets_total"]; n < 44 {
		t.Errorf("%v packets were captured, by the metrics", n)
	}
	if _, stderr, code := sinktest.Run(t, "capture", "-w", "-", "--url", "http://"+r.HTTP); code != 1 || !strings.Contains(stderr, "a token of http { token }") {
		t.Errorf("over TCP: exit code %d, %s", code, stderr)
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 || !strings.Contains(r.Stderr.String(), "all mbufs returned") || strings.Count(r.Stderr.String(), `what="POST /api/v1/capture" result=ok`) < 9 {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
}

// captureBefore: the first packet of each flow was reported, and the recorder has it as it came; filters hold, and what is not
// there is said.
func captureBefore(t *testing.T, socket string, frames [][]byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "before.pcapng")
	before := func(args ...string) (stderr string) {
		t.Helper()
		_, stderr, code := sinktest.Run(t, append([]string{"capture", "--socket", socket, "-w", file, "--force", "--before", "24h"}, args...)...)
		if code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, stderr)
		}
		return stderr
	}
	says := before("--event", "new_flow")
	packets := sinktest.PacketsOf(t, file)
	if len(packets) != len(frames) || !strings.Contains(says, fmt.Sprintf("%d packets in %s; of the last 24h0m0s; the sink started ", len(frames), file)) {
		t.Errorf("%d packets were recorded, want %d: %s", len(packets), len(frames), says)
	}
	for i, p := range packets {
		if !slices.ContainsFunc(frames, func(f []byte) bool { return bytes.Equal(f, p.Data) }) || i > 0 && p.At < packets[i-1].At {
			t.Errorf("packet %d at %d is\n%x", i, p.At, p.Data)
		}
	}
	if before("--event", "new_flow", "--source", "10.0.0.3"); len(sinktest.PacketsOf(t, file)) != 1 {
		t.Errorf("%d packets of one source, want 1", len(sinktest.PacketsOf(t, file)))
	}
	if says := before("--event", "new_flow", "--count", "2"); len(sinktest.PacketsOf(t, file)) != 2 || sinktest.PacketsOf(t, file)[0].At != packets[0].At || !strings.HasPrefix(says, "2 packets in ") {
		t.Errorf("of --count 2: %s", says)
	}
	if says := before("--source", "192.0.2.1"); !strings.Contains(says, "that were recorded then fits; widen the filter") {
		t.Errorf("of a host that sent nothing: %s", says)
	}
	incidentsPackets(t, socket, file)
	if says := before("--episode", "4000000000"); !strings.HasPrefix(says, "0 packets in ") {
		t.Errorf("of an episode that there was not: %s", says)
	}
}

// incidentsPackets: an incident says what the recorder has of its flows, and the command that it prints fetches that.
func incidentsPackets(t *testing.T, socket, file string) {
	t.Helper()
	for about, want := range map[string]int{"10.0.0.3": 1, "192.0.2.1": 0} {
		stdout, stderr, code := sinktest.Run(t, "incident", "--socket", socket, "--format", "json", "--host", about)
		var x flowapi.Incident
		if err := json.Unmarshal([]byte(stdout), &x); code != 0 || err != nil || x.Recorded == nil {
			t.Fatalf("exit code %d, %v: %s\n%s", code, err, stderr, stdout)
		}
		r := x.Recorded
		if r.Packets != want || want > 0 && (r.From == nil || !r.From.Equal(*r.To) || r.From.Before(x.From) || r.To.After(x.To)) || want == 0 && r.From != nil {
			t.Errorf("of %s the recorder has %+v, want %d packets", about, r, want)
		}
		args := append(strings.Fields(strings.Replace(r.Command, "incident.pcapng", file, 1))[1:], "--socket", socket, "--force")
		if _, stderr, code := sinktest.Run(t, args...); code != 0 || len(sinktest.PacketsOf(t, file)) != want {
			t.Errorf("%q: exit code %d, %d packets, want %d: %s", r.Command, code, len(sinktest.PacketsOf(t, file)), want, stderr)
		}
	}
}

// captureByWatchAndRate: what a watch selects is captured, and of what exceeds the rate the number is told.
// send sends 20 packets of it.
func captureByWatchAndRate(t *testing.T, r *sinktest.Sink, socket string, send func()) {
	t.Helper()
	c := startCapture(t, r, socket, "--watch", "all", "--stage", "in", "--count", "20")
	send()
	fields := c.ended("20 packets in " + c.file + "; ended: --count is reached")
	for i, f := range fields {
		if f[0] != "network" || !strings.HasPrefix(f[4], "stage=in direction=to_host watch=all") {
			t.Errorf("by watch: packet %d is %q", i, f)
		}
	}
	const dropped = `intsink_capture_dropped_total{reason="rate"}`
	for seconds := 4; ; seconds *= 2 { // until all can be sent in that time, beside other work, too
		before := observetest.Parse(t, r.Get(t, "/metrics")).Series[dropped]
		c = startCapture(t, r, socket, "--rate", "1", "--stage", "in", "--seconds", fmt.Sprint(seconds))
		for range 10 {
			send()
		}
		few := len(c.ended("the time is over")) // a burst of 64, and one a second
		left := observetest.Parse(t, r.Get(t, "/metrics")).Series[dropped] - before
		if few+int(left) < 200 && seconds < 60 {
			continue
		}
		if few < 60 || few > 66+seconds || few+int(left) != 200 || !strings.Contains(c.stderr.String(), fmt.Sprintf("%v", left)) {
			t.Errorf("%d of 200 packets by a rate of 1, %v left out: %s", few, left, &c.stderr)
		}
		return
	}
}

// captureIntoLittleRoom: what fits is there, whole, and the command says how much that is.
func captureIntoLittleRoom(t *testing.T, r *sinktest.Sink, socket string, send func()) {
	t.Helper()
	c := startCaptureInto(t, r, socket, filepath.Join(sinktest.SmallDisk(t, "8k"), "c.pcapng"))
	for range 3 {
		send()
	}
	err := c.cmd.Wait()
	left := sinktest.PacketsOf(t, c.file)
	want := fmt.Sprintf("%s cannot be written any more: no space left on device; the first %d packets are in it, whole", c.file, len(left))
	if err == nil || len(left) == 0 || !strings.Contains(c.stderr.String(), want) {
		t.Errorf("%v: %s; want %s", err, &c.stderr, want)
	}
	if out, err := exec.Command("tshark", "-n", "-r", c.file).CombinedOutput(); err != nil || strings.Count(string(out), "INT") == 0 && strings.Count(string(out), "UDP") == 0 {
		t.Errorf("tshark: %v\n%s", err, out)
	}
}

// TestCaptureFlagsThatAreWrong, before any sink is asked.
func TestCaptureFlagsThatAreWrong(t *testing.T) {
	for flags, want := range map[string]string{
		"--rate 0": "--rate 0: must be 1 to 1000000", "--rate NaN": "--rate NaN: must be 1 to 1000000", "--rate 0.5": "--rate 0.5: must be 1 to 1000000",
		"--seconds 0": "--seconds 0: must be more than 0", "--seconds 1e99": "at most 3600", "--count -1": "--count -1: must be", "--snap-length 3": "--snap-length 3: must be 14 to",
		"--stage middle": `--stage "middle": must be "in"`, "--event flow_end": `--event: no packet shows "flow_end": must be new_flow`, "--event drop,leak": `--event: "drop" goes alone`,
		"--before 30s --seconds 3": "--before goes without --seconds", "--before -1s": "--before -1s: must be how long ago", "--before 48h": "--before 172800: must be more than 0 seconds and at most 86400", "--episode 3": "--episode 3: goes with before",
		"--reason full": `--reason "full": must be tx_full, `, "--source 10.0.0.1/8": `--source "10.0.0.1/8": has bits behind`, "--both-ways": "--both-ways: there is nothing",
	} {
		t.Run(flags, func(t *testing.T) {
			args := append([]string{"capture", "--socket", "/nowhere", "-w", "-"}, strings.Fields(flags)...)
			if _, stderr, code := sinktest.Run(t, args...); code != 2 || !strings.Contains(stderr, want) {
				t.Errorf("exit code %d, %q; want 2 and %q", code, stderr, want)
			}
		})
	}
}
