package simulate

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"intsink/conf"
	"intsink/deploy/playground/scene"
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
)

// faulty is the defaults, for the network of the playground.
const faulty = `
node { id = 3 }
port "network" { device = "kernel:a" }
port "host" { device = "kernel:b" }
link "edge" {
  network = "network"
  host    = "host"
}
int {
  udp_port = 5000
  domain "playground" {
    id = 7
    instruction "number" {
      bit    = 0
      length = 4
      scope  = "source-only"
    }
  }
}
watch "all" {}
collector "c" { address = "192.0.2.1:8555" }
`

// played is the network of the playground in front of a worker, on a clock of its own.
type played struct {
	*Worker
	t       *testing.T
	config  *conf.Config
	network *scene.Network
	port    *MemPort
	now     time.Time
}

func newPlayed(t *testing.T, text string) *played {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	port, err := NewMemPort()
	if err != nil {
		t.Fatal(err)
	}
	reports, err := mbuf.NewArena(4096, conf.MbufRoom)
	if err != nil {
		t.Fatal(err)
	}
	w := New(c, Ports{Network: port, Host: SilentPort{port}, Packets: port.Pool, Reports: reports}, func(*SealedReport) {})
	t.Cleanup(w.Release)
	return &played{w, t, c, scene.New(), port, time.Unix(1763776800, 0)}
}

// play lets so much time pass.
func (p *played) play(d time.Duration) {
	p.t.Helper()
	for step, until := 0, p.now.Add(d); p.now.Before(until); step++ {
		err := p.network.Step(step, p.now, func(frame []byte) {
			p.port.Frame = frame
			p.PassTo(p.now.UnixNano())
			p.Poll()
			p.Drain()
		})
		if err != nil {
			p.t.Fatal(err)
		}
		p.now = p.now.Add(scene.Pause)
	}
}

func (p *played) do(words ...string) {
	p.t.Helper()
	for _, word := range words {
		if _, err := p.network.Do(word); err != nil {
			p.t.Fatal(err)
		}
	}
}

// minute lets the network be calm for so long and then have three faults for a minute. It returns the reports of that minute
// by what they tell, and the events that they tell of.
func minute(t *testing.T, calm time.Duration) (news [event.NumNews]uint64, events [event.NumEvents]uint64) {
	t.Helper()
	p := newPlayed(t, faulty)
	p.play(calm)
	before := p.Snapshot()
	p.do("slow", "fill", "move")
	p.play(time.Minute)
	after := p.Snapshot()
	for i := range news {
		news[i] = after.News[i] - before.News[i]
	}
	for i := range events {
		events[i] = after.Reported[i] - before.Reported[i]
	}
	return news, events
}

// TestReportsTellNews: with a slow hop, a full queue and a dead node, at least nine of ten reports of the first minute
// tell something new, and each of the three is told.
func TestReportsTellNews(t *testing.T) {
	for _, calm := range []time.Duration{0, 5 * time.Minute} {
		t.Run(fmt.Sprint(calm), func(t *testing.T) {
			news, events := minute(t, calm)
			total := news[event.NoNews] + news[event.FlowNews] + news[event.ChangeNews]
			share := float64(total-news[event.NoNews]) / float64(total)
			t.Logf("%d reports: %d of flows, %d of changes, %d without news: %.1f %%; %v", total, news[event.FlowNews], news[event.ChangeNews], news[event.NoNews], 100*share, events)
			if share < 0.9 {
				t.Errorf("%.1f %% of the reports tell something new", 100*share)
			}
			for _, e := range []event.Event{event.HopLatency, event.Congestion, event.PathChange} {
				if events[e] == 0 && (calm > 0 || e != event.PathChange) {
					t.Errorf("no report of %v", e)
				}
			}
		})
	}
}
