// peers: asks the other collectors behind the same address for report packets that are missing here, before they are
// told as lost; answers their questions.

package collect

import (
	"context"
	"math"
	"sync"
	"time"

	"intsink/exporters/collect/streams"
)

// Peer is another collector behind the same address.
type Peer struct {
	Name string
	// Ask returns an answer for each question, or an error if there is none of this collector now.
	Ask func(ctx context.Context, q []PeerQuestion) ([]streams.Answer, error)
}

// PeerQuestion is a question about a stream of the listen of that name.
type PeerQuestion struct {
	Listen string `json:"listen"`
	streams.Question
}

// MaxQuestions is how many questions a request of a collector to another has at most.
const MaxQuestions = 1000

const (
	maxPending   = 1 << 16            // questions that wait for answers; beyond, nobody is asked
	peerTimeout  = 5 * time.Second    // for one request
	peerPatience = time.Minute        // how long a collector that does not answer is waited for
	peerPause    = time.Second        // between two requests to one that does not answer
	lastAnswers  = 2 * time.Second    // how long Stop waits
	askAfter     = int64(time.Second) // how long what is missing here may still be in a socket there
)

// question is what the others are asked about one gap, or about what came before a stream began here.
type question struct {
	l       *listen
	gap     streams.Gap
	highest bool
	asked   int64  // when, by the monotonic clock
	open    uint64 // of each peer that has not answered a bit
	unsure  bool   // one that has answered does not remember the whole time

	spans []streams.Span
	above uint64 // numbers above this one are missing; only with found
	found bool
}

// peers are all others, and the questions to them. The collector's lock guards all fields but all.
type peers struct {
	all     []Peer
	pending []*question
	id      uint64        // of this collector: others have others
	most    time.Duration // how long one that does not answer is waited for
	faults  []error       // of each, why it does not answer; nil: it does
	wake    []chan struct{}
	done    context.CancelFunc
	wait    sync.WaitGroup
}

func (c *Collector) startPeers() {
	p := &c.peers
	if p.all = c.o.Peers; len(p.all) == 0 {
		return
	}
	p.most = peerPatience
	p.faults = make([]error, len(p.all))
	ctx, cancel := context.WithCancel(context.Background())
	p.done = cancel
	for range p.all {
		p.wake = append(p.wake, make(chan struct{}, 1))
	}
	for i := range p.all {
		p.wait.Go(func() { c.ask(ctx, i) })
	}
}

// missed takes a gap of a stream of l. It returns false if it is to be told as it is: there are no peers, or it is not
// known which packets are missing. The caller holds the lock.
func (c *Collector) missed(l *listen, g streams.Gap) bool {
	if len(c.peers.all) == 0 || g.Unknown {
		return false
	}
	c.question(&question{l: l, gap: g})
	return true
}

// beganHere asks the others what they had of a stream before its first packet here.
func (c *Collector) beganHere(l *listen, k streams.Key, start int64, first uint64, arrived int64) {
	if len(c.peers.all) > 0 && k.Instance != 0 && first > 0 {
		c.question(&question{l: l, gap: streams.Gap{Key: k, Start: start, Last: first - 1, Before: arrived, After: arrived}, highest: true})
	}
}

func (c *Collector) question(q *question) {
	p := &c.peers
	q.asked, q.open = int64(time.Since(c.began)), 1<<len(p.all)-1
	if len(p.pending) >= maxPending {
		c.log.Say("too many gaps to ask other collectors about: what is missing is told as of unknown length")
		q.open, q.unsure = 0, true
	}
	p.pending = append(p.pending, q)
}

// ask asks peer i what is pending, over and over.
func (c *Collector) ask(ctx context.Context, i int) {
	p := &c.peers
	pause := time.NewTimer(tick)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		case <-p.wake[i]:
		}
		batch, questions := c.due(i)
		next := tick
		if len(batch) > 0 {
			one, cancel := context.WithTimeout(ctx, peerTimeout)
			answers, err := p.all[i].Ask(one, questions)
			cancel()
			c.answered(i, batch, answers, err)
			if err != nil {
				next = peerPause
			} else if len(batch) == MaxQuestions {
				next = 0
			}
		}
		pause.Reset(next)
	}
}

// due returns questions that peer i has not answered and that may be asked now.
func (c *Collector) due(i int) (batch []*question, questions []PeerQuestion) {
	now := int64(time.Since(c.began))
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.peers.pending {
		if q.open>>i&1 == 0 || now-q.asked < askAfter && !c.stopping {
			continue
		}
		batch = append(batch, q)
		questions = append(questions, PeerQuestion{q.l.Name, streams.Question{
			Key: q.gap.Key, First: q.gap.First, Last: q.gap.Last, Before: q.gap.Before, After: q.gap.After, Asker: c.peers.id, Highest: q.highest,
		}})
		if len(batch) == MaxQuestions {
			break
		}
	}
	return batch, questions
}

// answered takes the answers of peer i.
func (c *Collector) answered(i int, batch []*question, answers []streams.Answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.peers.faults[i]
	c.peers.faults[i] = err
	if err != nil {
		if was == nil {
			c.log.Say("a collector behind the same address does not answer: what is missing here waits to be told", "peer", c.peers.all[i].Name, "err", err)
		}
		return
	}
	for n, q := range batch {
		q.open &^= 1 << i
		a := &answers[n]
		q.unsure = q.unsure || !a.Sure
		q.take(a.Spans)
		if a.Found && (!q.found || a.Highest > q.above) {
			q.above, q.found = a.Highest, true
		}
	}
}

// take takes the numbers that a peer says it has: as many ranges as one that is well tells, and none that ends before it begins.
func (q *question) take(spans []streams.Span) {
	for _, s := range spans[:min(len(spans), streams.MaxSpans)] {
		if s.First <= s.Last {
			q.spans = append(q.spans, s)
		}
	}
}

// settle tells what nobody has of the gaps that all have answered to, or have had time to; at the last of all.
func (c *Collector) settle(monotonic int64, last bool) {
	c.mu.Lock()
	var settled []*question
	rest := c.peers.pending[:0]
	for _, q := range c.peers.pending {
		if q.open == 0 || last || monotonic-q.asked >= int64(c.peers.most) {
			settled = append(settled, q)
		} else {
			rest = append(rest, q)
		}
	}
	clear(c.peers.pending[len(rest):])
	c.peers.pending = rest
	c.mu.Unlock()
	if len(settled) == 0 {
		return
	}
	var gone []streams.Gap
	c.pushNotes(func(l *listen, add addNote) {
		for _, q := range settled {
			if q.l == l {
				gone = append(gone, q.gap)
				c.tellMissing(q, add)
			}
		}
	})
	c.o.Spool.Explained(gone)
}

// tellMissing tells what of a gap no collector has. The caller holds the lock.
func (c *Collector) tellMissing(q *question, add addNote) {
	g := q.gap
	sure := q.open == 0 && !q.unsure
	if q.highest {
		if q.found && q.above >= g.Last || !q.found && q.open == 0 { // nothing is missing, or nobody knows of the stream
			return
		}
		if q.found {
			g.First = q.above + 1
		}
	} else {
		q.l.streams.Settled(&g)
	}
	whole := streams.Span{First: g.First, Last: g.Last}
	left := whole.Without(q.spans)
	for _, o := range whole.Without(left) {
		q.l.elsewhere += o.Last - o.First + 1
	}
	for _, r := range left {
		told := streams.Gap{Key: g.Key, Start: g.Start, First: r.First, Last: r.Last}
		if !sure {
			told.Last, told.Unknown = 0, true
			q.l.streams.LoseUnknown(g.Key)
		} else {
			q.l.streams.Lose(g.Key, g.Start, r)
		}
		add(told.Key, told.Start, gapNote(told))
	}
}

// lastQuestions waits for answers to what is still to be asked, for a time, and tells the rest as it is known then.
func (c *Collector) lastQuestions() {
	if len(c.peers.all) == 0 {
		return
	}
	for end := time.Now().Add(lastAnswers); time.Now().Before(end) && c.unanswered(); time.Sleep(tick / 10) {
		for _, w := range c.peers.wake {
			select {
			case w <- struct{}{}:
			default:
			}
		}
	}
	c.peers.done()
	c.peers.wait.Wait()
	c.settle(math.MaxInt64, true)
}

// unanswered reports whether a question waits for a peer that answers.
func (c *Collector) unanswered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.peers.pending {
		for i, fault := range c.peers.faults {
			if q.open>>i&1 == 1 && fault == nil {
				return true
			}
		}
	}
	return false
}

// Answer answers the questions of another collector.
func (c *Collector) Answer(questions []PeerQuestion) []streams.Answer {
	answers := make([]streams.Answer, len(questions))
	for i := range questions {
		q := &questions[i]
		c.mu.Lock()
		for _, l := range c.listens {
			if l.Name == q.Listen && l.why == nil {
				q.Key.Collector = l.local
				answers[i] = l.streams.Ask(&q.Question)
			}
		}
		c.mu.Unlock()
	}
	return answers
}

// PeerFaults returns why each peer does not answer, by name; nil: it does, or has not been asked yet.
func (c *Collector) PeerFaults() map[string]error {
	c.mu.Lock()
	defer c.mu.Unlock()
	faults := map[string]error{}
	for i, p := range c.peers.all {
		faults[p.Name] = c.peers.faults[i]
	}
	return faults
}
