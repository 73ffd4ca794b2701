package decode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"

	"intsink/engine/wire/report/reporttest"
)

func TestDecodeListen(t *testing.T) {
	r, w := io.Pipe()
	cmd := NewCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(w)
	cmd.SetArgs([]string{"--listen", "127.0.0.1:0", "--format", "json", "--count", "2"})
	done := make(chan error, 1)
	go func() { done <- cmd.Execute(); w.Close() }()
	lines := bufio.NewScanner(r)
	lines.Scan()
	address := strings.TrimPrefix(lines.Text(), "listening on ")
	conn, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write([]byte("hello"))
	conn.Write(reporttest.Packet(t, 7, 2))
	var rest []string
	for lines.Scan() {
		rest = append(rest, lines.Text())
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	var line struct {
		Packet int    `json:"packet"`
		From   string `json:"from"`
		To     string `json:"to"`
		NodeID uint32 `json:"node_id"`
	}
	d := json.NewDecoder(&out)
	for range 2 {
		if err := d.Decode(&line); err != nil || line.Packet != 2 || line.NodeID != 3 || line.To != address || line.From != conn.LocalAddr().String() {
			t.Errorf("%v %+v", err, line)
		}
	}
	if len(rest) != 2 || !strings.Contains(rest[0], "packet 1 ") || rest[1] != "2 reports in 1 packet, 0 lost, 1 undecodable" {
		t.Errorf("stderr %q", rest)
	}
}

// The end of the context, which a signal brings, is success.
func TestDecodeListenEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	cmd := NewCommand()
	cmd.SetErr(w)
	cmd.SetArgs([]string{"--listen", "127.0.0.1:0"})
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx); w.Close() }()
	lines := bufio.NewScanner(r)
	lines.Scan()
	cancel()
	lines.Scan()
	if err := <-done; err != nil || lines.Text() != "0 reports in 0 packets, 0 lost, 0 undecodable" {
		t.Errorf("%v, %q", err, lines.Text())
	}
}
