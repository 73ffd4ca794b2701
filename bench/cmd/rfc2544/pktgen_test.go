package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// fakePktgen answers on screen what it is told on its socket: it sends 1000 frames
// and loses none up to 40 percent.
func fakePktgen(t *testing.T) *pktgen {
	t.Helper()
	ours, theirs := net.Pipe()
	read, write := io.Pipe()
	p := &pktgen{conn: ours, tx: 2, rx: 3, answers: make(chan answer, 1)}
	go readAnswers(read, p.answers)
	go func() {
		for lines, n := bufio.NewScanner(theirs), 1; lines.Scan(); n++ {
			var percent float64
			_, rest, _ := strings.Cut(lines.Text(), `pktgen.set("2", "rate", "`)
			fmt.Sscanf(rest, "%f", &percent)
			if n == 1 { // the link is not up yet
				fmt.Fprintf(write, "rfc2544 1 sent 0 received 0 end\r\n")
				continue
			}
			received := 1000
			if percent > 40 {
				received = 900
			}
			fmt.Fprintf(write, "\x1b[1;1H noise\nrfc2544 %d sent 7 received 7 end\r\n", n+100) // of somebody else
			fmt.Fprintf(write, "\x1b[20;1Hrfc2544 %d sent 1000 received %d end\r\n", n, received)
		}
	}()
	t.Cleanup(func() { ours.Close(); theirs.Close(); write.Close() })
	return p
}

func TestPktgen(t *testing.T) {
	p := fakePktgen(t)
	if err := p.waitUntilItSends(time.Minute); err != nil || p.asked != 2 {
		t.Errorf("%d asked, %v", p.asked, err)
	}
	for percent, loss := range map[float64]float64{10: 0, 100: 0.1} {
		got, err := p.try(percent, time.Second)
		if err != nil || got.Rate != 1000 || got.Loss != loss {
			t.Errorf("%v percent: %+v, %v", percent, got, err)
		}
	}
}

func TestPktgenEnds(t *testing.T) {
	answers := make(chan answer, 1)
	if last := readAnswers(strings.NewReader("a\nPANIC: no ports"), answers); !strings.Contains(last, "PANIC") {
		t.Errorf("%q", last)
	}
	if _, open := <-answers; open {
		t.Error("an answer where there is none")
	}
}
