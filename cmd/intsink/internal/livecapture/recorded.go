// recorded: answers with packets from before the request, out of the workers' flight recorders.

package livecapture

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/packetmatch"
	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/engine/aside/capture"
	"intsink/engine/aside/recorder"
)

// Trailers of an answer with recorded packets: how many seconds the recorder reached back, whether it had overwritten older
// packets, whether it overwrote some before they were read, and how many packets of the time it had before the filter.
const (
	trailerReach  = "Intsink-Recorder-Reach"
	trailerOver   = "Intsink-Recorder-Overwritten"
	trailerMissed = "Intsink-Recorder-Missed"
	trailerHeld   = "Intsink-Recorder-Held"
)

// past is the packets of all recorders, in the order of their times.
type past struct {
	filter  *capture.Filter
	episode uint32
	matcher *recorder.Matcher
	readers []*recorder.Reader
	heads   []capture.Record // the next packet of each
	ready   []bool
	held    int // packets that were read
}

func newPast(all []*recorder.Recorder, c *conf.Config, episode uint32, f *capture.Filter, since int64) *past {
	p := &past{filter: f, episode: episode, matcher: rules.Of(c).Matcher(len(c.LinkNames())), heads: make([]capture.Record, len(all)), ready: make([]bool, len(all))}
	for _, r := range all {
		p.readers = append(p.readers, r.Read(since))
	}
	return p
}

// next returns the next packet that is wanted, valid until the next call; nil: there is none any more.
func (p *past) next() *capture.Record {
	for {
		first := -1
		for i, r := range p.readers {
			if !p.ready[i] {
				p.ready[i] = r.Next(&p.heads[i])
			}
			if p.ready[i] && (first < 0 || r.Now < p.readers[first].Now) {
				first = i
			}
		}
		if first < 0 {
			return nil
		}
		p.ready[first] = false
		p.held++
		if x := &p.heads[first]; (p.episode == 0 || x.Episode == p.episode) && p.matcher.Fits(p.filter, x) {
			x.Data = x.Data[:min(len(x.Data), p.filter.SnapLength)]
			return x
		}
	}
}

// reach is since when all recorders have what they took, and whether one has overwritten older packets.
func (s *Server) reach() (since int64, overwritten bool) {
	for _, r := range s.Recorders {
		at, over := r.Reach()
		since, overwritten = max(since, at), overwritten || over
	}
	return since, overwritten
}

func (s *Server) on() bool { return len(s.Recorders) > 0 && s.Recorders[0].On() }

// Recorded says what the recorders have of packets from one time to another; nil: they are off, or w makes no sense.
func (s *Server) Recorded(w *flowapi.Wanted, from, to time.Time) *flowapi.RecordedItem {
	if !s.on() {
		return nil
	}
	texts := func(text string) packetmatch.Texts {
		if text == "" {
			return nil
		}
		return packetmatch.Texts{text}
	}
	c := s.Config()
	q := &Request{Match: packetmatch.Match{
		Source: texts(w.Source), Destination: texts(w.Destination), Protocol: texts(w.Protocol), SourcePort: texts(w.SourcePort), DestinationPort: texts(w.DestinationPort),
	}}
	q.BothWays = !q.Match.Empty()
	f, err := q.compile(c)
	if err != nil {
		return nil
	}
	s.counting.Lock() // one at a time
	defer s.counting.Unlock()
	ahead := s.WallClock()
	since, _ := s.reach()
	x := &flowapi.RecordedItem{Since: time.Unix(0, since+ahead).UTC()}
	p := newPast(s.Recorders, c, 0, &f, from.UnixNano()-ahead)
	for r := p.next(); r != nil; r = p.next() {
		if at := time.Unix(0, r.Time).UTC(); !at.Before(from) && !at.After(to) {
			x.Packets++
			x.To = &at
			if x.From == nil {
				x.From = &at
			}
		}
	}
	return x
}

// recorded answers with what the recorders have.
func (s *Server) recorded(q *Request, f *capture.Filter, c *conf.Config) control.Outcome {
	if !s.on() {
		return control.Outcome{
			Result: control.WriteRefused, Status: http.StatusConflict,
			Error: `the flight recorder is off: write recorder { memory = "64MiB" } into the configuration, and restart`,
		}
	}
	if !s.reading.TryLock() {
		return control.Outcome{Result: control.WriteRefused, Status: http.StatusConflict, Error: "somebody reads the flight recorder at this moment: ask again"}
	}
	return control.Outcome{Result: control.WriteOK, Status: http.StatusOK, Detail: detailOf(q), Stream: func(w http.ResponseWriter, _ *http.Request) {
		defer s.reading.Unlock()
		now := s.Clock()
		since, overwritten := s.reach()
		t := &stream{s: s, request: q, filter: *f, config: c, control: http.NewResponseController(w)}
		t.control.SetReadDeadline(time.Time{})
		h := w.Header()
		h.Set("Content-Type", "application/x-pcapng")
		h.Set("Cache-Control", "no-store")
		h.Set("Trailer", strings.Join([]string{trailerPackets, trailerEnd, trailerReach, trailerOver, trailerMissed, trailerHeld}, ", "))
		p := newPast(s.Recorders, c, q.Episode, f, now-int64(q.Before*1e9))
		why := t.pastOf(w, p)
		missed := slices.ContainsFunc(p.readers, func(r *recorder.Reader) bool { return r.Missed })
		h.Set(trailerPackets, fmt.Sprint(t.written))
		h.Set(trailerEnd, why)
		h.Set(trailerReach, fmt.Sprintf("%.1f", float64(now-since)/1e9))
		h.Set(trailerOver, fmt.Sprint(overwritten))
		h.Set(trailerMissed, fmt.Sprint(missed))
		h.Set(trailerHeld, fmt.Sprint(p.held))
	}}
}

// pastOf writes the packets of p, and says why it ends.
func (t *stream) pastOf(w http.ResponseWriter, p *past) (why string) {
	if t.head(w) != nil {
		return "client"
	}
	for n := 0; !t.full(); n++ {
		if n%perDeadline == 0 {
			t.control.SetWriteDeadline(time.Now().Add(streamPatience))
		}
		x := p.next()
		if x == nil {
			if t.flush() != nil {
				return "client"
			}
			return "recorded"
		}
		if t.write(x) != nil {
			return "client"
		}
	}
	if t.flush() != nil {
		return "client"
	}
	return "count"
}
