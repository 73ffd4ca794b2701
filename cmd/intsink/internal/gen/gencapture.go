// gen --out: writes packets into captures; fills hop metadata with jitter, path changes and
// latency steps.

package gen

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/pcapfile"
	"intsink/cmd/internal/progress"
	"intsink/engine/wire/intgen"
)

// genStart is the time of the first packet: any constant, so that the file is
// the same each time.
const genStart = 1_700_000_000_000_000_000

// hopStep is how much slower hop 2 gets with --latency-step-after, in nanoseconds.
const hopStep = 500_000

// generator makes the packets of a capture.
type generator struct {
	f       *Flags
	source  *intgen.Source
	carrier string // key of tunnels: what the original packets are; "": no tunnel
	random  *rand.Rand
	payload int
	steps   []uint32 // per flow: latency steps so far
	stepAt  int64    // when hop 2 gets slower, from the first packet on; 0: never
	busyAt  int64    // when the load of hop 2 rises, the same
	paths   []uint16 // per flow: path changes so far
	links   uint64   // latency steps of the link so far
	hops    []intgen.Hop
}

func genCapture(stdout, stderr io.Writer, f *Flags) error {
	source, err := f.source()
	if err != nil {
		return err
	}
	e, err := f.encapsulation()
	if err != nil {
		return err
	}
	g := &generator{
		f: f, source: source, carrier: e.original, random: rand.New(rand.NewPCG(f.seed, 0)),
		steps: make([]uint32, f.flows), paths: make([]uint16, f.flows), hops: make([]intgen.Hop, f.hops),
	}
	after, err := optionalDuration("latency-step-after", f.latencyStepAfter)
	if err != nil {
		return err
	}
	g.stepAt = int64(after)
	if after, err = optionalDuration("busy-after", f.busyAfter); err != nil {
		return err
	}
	g.busyAt = int64(after)
	if err := g.fitPayload(); err != nil {
		return err
	}
	marked, err := g.writeFiles(stderr)
	if err != nil {
		return err
	}
	flows := min(f.count, uint64(f.flows)) // fewer packets than flows: the rest have none
	_, err = fmt.Fprintf(stdout, "%s: %d packets, %d with INT, %d flows\n", f.out, f.count, marked, flows)
	return err
}

// writeFiles writes the capture, and that of the packets without INT where it is asked for; both
// to their end, or none.
func (g *generator) writeFiles(stderr io.Writer) (marked uint64, err error) {
	var files pcapfile.Outputs
	out, err := files.Create(g.f.out)
	if err != nil {
		return 0, err
	}
	var originals *pcapfile.Writer // nil: nobody asks for them
	if g.f.original != "" {
		if originals, err = files.Create(g.f.original); err != nil {
			return 0, files.Finish(err)
		}
	}
	line := progress.New(stderr, g.f.out, int64(g.f.count), cli.Count(int(g.f.count), "packet"))
	for i := uint64(0); i < g.f.count && err == nil; i++ {
		var mark bool
		if mark, err = g.write(out, originals, i); mark {
			marked++
		}
		if err == nil {
			err = files.Err()
		}
		line.Step(int64(i), i)
	}
	line.Done()
	return marked, files.Finish(err)
}

// fitPayload finds the payload that makes a frame with INT as long as asked.
func (g *generator) fitPayload() error {
	_, empty, err := g.packet(0, 0, true)
	if err != nil {
		return err
	}
	if !g.f.Given("size") {
		g.f.size = max(g.f.size, len(empty))
	}
	g.payload = g.f.size - len(empty)
	if g.payload < 0 {
		return cli.WrongUsage(fmt.Errorf("--size %d: headers and INT of %d hops alone are %d bytes: ask for that or more", g.f.size, g.f.hops, len(empty)))
	}
	return nil
}

// write writes packet i; mark: it has INT.
func (g *generator) write(out, originals *pcapfile.Writer, i uint64) (mark bool, err error) {
	n := int(i % uint64(g.f.flows))
	at := genStart + int64(float64(i)*1e9/g.f.pps)
	mark = g.random.Float64() >= g.f.plain
	if mark {
		g.fillHops(i, n, at)
	}
	orig, frame, err := g.packet(n, uint32(i), mark)
	if err != nil {
		return mark, err
	}
	if originals != nil {
		originals.Write(orig, at)
	}
	out.Write(frame, at)
	return mark, nil
}

// fillHops writes the metadata of packet i of flow n: latencies that jitter by
// less than 2 us, and the events that the flags ask for.
func (g *generator) fillHops(i uint64, n int, at int64) {
	if e := g.f.pathEvery; e > 0 && i%e == e-1 {
		g.paths[n]++
	}
	if e := g.f.stepEvery; e > 0 && i%e == e-1 {
		g.steps[n]++
	}
	for h := range g.hops {
		hop := len(g.hops) - h // the newest, which is the last on the way, is first
		latency := uint32(10_000 + g.random.IntN(2000))
		egress := uint16(2)
		if hop == 1 {
			latency += 100_000 * g.steps[n]
			egress += g.paths[n]
		}
		if hop == 2 && g.stepAt > 0 && at-genStart >= g.stepAt {
			latency += hopStep
		}
		g.hops[h] = intgen.Hop{
			NodeID: uint32(100 + hop), Ingress: 1, Egress: egress, LatencyNs: latency,
			QueueID: 1, QueueOccupancy: uint32(g.random.IntN(100)), TxUtilization: calmLoad,
		}
		if hop == 2 {
			g.hops[h].TxUtilization = g.load(at - genStart)
		}
	}
	if !g.f.timestamps {
		return
	}
	if e := g.f.linkStepEvery; e > 0 && i%e == e-1 {
		g.links++
	}
	stampHops(g.hops, uint64(at), g.link)
}

// Loads of an interface, in per cent.
const (
	calmLoad = 20
	busyLoad = 97
)

// load is the load of hop 2's interface so long after the first packet.
func (g *generator) load(after int64) uint32 {
	if g.busyAt == 0 || after < g.busyAt {
		return calmLoad
	}
	after -= g.busyAt
	busy := true
	if each := int64(g.f.busyFor); each > 0 {
		busy = after/each%2 == 0
		if after >= each {
			after %= each
		}
	}
	step := uint32(min(after, 1e9) * (busyLoad - calmLoad) / 1e9)
	if !busy {
		return busyLoad - step
	}
	return calmLoad + step
}

// link is how long the packet at hand takes from a hop to the next: it jitters by
// up to 5 %, the link from hop 1 gets slower.
func (g *generator) link(hop int) uint64 {
	latency := g.f.linkLatency
	latency += time.Duration(g.random.Int64N(int64(latency)/20 + 1))
	if hop == 1 {
		return uint64(latency) + linkStep*g.links
	}
	return uint64(latency)
}
