// stream: one running capture: merges the packets of all workers, writes them to the client as
// pcapng, ends the capture.

package livecapture

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"intsink/conf"
	"intsink/engine/aside/capture"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
)

const (
	perDeadline    = 8       // packets that are written until the client gets streamPatience anew
	maxPass        = 1 << 14 // packets that are written before the stream checks whether to end
	ringBytes      = 4 << 20 // per worker, while a capture runs
	lookEvery      = 20 * time.Millisecond
	streamPatience = 10 * time.Second // how long a client may take no bytes
	workerPatience = time.Second      // how long workers may take to begin and to end a capture
)

// Trailers of the answer: how many packets were captured and dropped, and why it ended.
const (
	trailerPackets = "Intsink-Capture-Packets"
	trailerRate    = "Intsink-Capture-Dropped-Rate"
	trailerRoom    = "Intsink-Capture-Dropped-Room"
	trailerEnd     = "Intsink-Capture-End"
)

// stream is a capture that runs.
type stream struct {
	s        *Server
	request  *Request
	filter   capture.Filter
	config   *conf.Config
	captures []*capture.Capture
	ready    []bool           // heads[i] holds the next packet of captures[i]
	heads    []capture.Record // the next packet of each worker
	out      *pcapgo.NgWriter
	control  *http.ResponseController
	written  int
}

// run captures until there are enough packets, the time is over, or the client is gone.
func (t *stream) run(w http.ResponseWriter, r *http.Request) {
	t.control = http.NewResponseController(w)
	t.control.SetReadDeadline(time.Time{}) // the deadline for reading the request would end the answer, too
	h := w.Header()
	h.Set("Content-Type", "application/x-pcapng")
	h.Set("Cache-Control", "no-store")
	h.Set("Trailer", strings.Join([]string{trailerPackets, trailerRate, trailerRoom, trailerEnd}, ", "))
	end := time.Now().Add(time.Duration(t.request.Seconds * float64(time.Second)))
	t.begin()
	why := "client"
	if t.head(w) == nil {
		why = t.follow(r.Context(), end)
	}
	t.finish()
	t.s.running.Store(false)
	rate, room := t.dropped()
	t.s.rate.Add(rate)
	t.s.full.Add(room)
	h.Set(trailerPackets, fmt.Sprint(t.written))
	h.Set(trailerRate, fmt.Sprint(rate))
	h.Set(trailerRoom, fmt.Sprint(room))
	h.Set(trailerEnd, why)
}

// head writes the start of the file: a section header, and an interface for each port of each
// link.
func (t *stream) head(w http.ResponseWriter) (err error) {
	t.control.SetWriteDeadline(time.Now().Add(streamPatience))
	for i, p := range interfacesOf(t.config, t.filter.SnapLength) {
		if i == 0 {
			o := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "intsink " + t.s.Version}}
			t.out, err = pcapgo.NewNgWriterInterface(w, p, o)
		} else {
			_, err = t.out.AddInterface(p)
		}
		if err != nil {
			return err
		}
	}
	return t.flush()
}

// interfacesOf returns two interfaces for each link (its network port, its host port) and two for
// each tap. The second one of a tap is never used.
func interfacesOf(c *conf.Config, snap int) (all []pcapgo.NgInterface) {
	add := func(port, description string) {
		all = append(all, pcapgo.NgInterface{
			Name: port, Description: description, LinkType: layers.LinkTypeEthernet, SnapLength: uint32(snap), TimestampResolution: 9,
		})
	}
	for _, l := range c.Links {
		add(l.Network, "link "+l.Name+", network side")
		add(l.Host, "link "+l.Name+", host side")
	}
	for _, p := range c.Taps {
		add(p.Port, "tap "+p.Name)
		add(p.Port, "tap "+p.Name)
	}
	return all
}

func (t *stream) begin() {
	until := t.s.Clock() + int64(t.request.Seconds*1e9) + int64(streamPatience) // the workers end it then by themselves
	n := len(t.s.Workers)
	t.ready, t.heads = make([]bool, n), make([]capture.Record, n)
	for _, w := range t.s.Workers {
		c := capture.New(t.filter, until, t.request.Rate/float64(n), ringBytes)
		t.captures = append(t.captures, c)
		w.Capture(c)
	}
	t.wait((*capture.Capture).Begun)
}

// wait waits until is returns true for all workers' captures, mostly a millisecond.
func (t *stream) wait(is func(*capture.Capture) bool) {
	late := time.Now().Add(workerPatience)
	for _, c := range t.captures {
		for !is(c) && time.Now().Before(late) {
			time.Sleep(time.Millisecond)
		}
	}
}

// look counts the capture as running once all workers take packets, which a busy machine may
// put off for longer than begin waits.
func (t *stream) look() {
	if !slices.ContainsFunc(t.captures, func(c *capture.Capture) bool { return !c.Begun() }) {
		t.s.running.Store(true)
	}
}

// follow passes packets on until the capture ends, and returns why it does.
func (t *stream) follow(ctx context.Context, end time.Time) (why string) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		t.look()
		if t.pass(end) != nil {
			return "client"
		}
		switch {
		case t.full():
			return "count"
		case !time.Now().Before(end):
			return "seconds"
		}
		select {
		case <-ctx.Done():
			return "client"
		case <-tick.C:
		}
	}
}

func (t *stream) full() bool { return t.request.Count > 0 && t.written >= t.request.Count }

// finish ends the capture on all workers, and passes on the packets that they had taken.
func (t *stream) finish() {
	for _, w := range t.s.Workers {
		w.Capture(nil)
	}
	t.wait((*capture.Capture).Ended)
	last := time.Now().Add(3 * streamPatience)
	for before := -1; t.out != nil && before != t.written; { // until nothing is left
		before = t.written
		if t.pass(last) != nil {
			return // the client is gone
		}
	}
}

// pass writes the packets that the workers have taken, in the order of their times as far as
// they have come, and ends at a time at the latest.
func (t *stream) pass(end time.Time) error {
	for n := range maxPass {
		if n%perDeadline == 0 { // a slow client takes long for all of them
			now := time.Now()
			if n > 0 && now.After(end) {
				break
			}
			t.control.SetWriteDeadline(now.Add(streamPatience))
		}
		next := -1
		for i, c := range t.captures {
			if !t.ready[i] {
				t.ready[i] = c.Next(&t.heads[i])
			}
			if t.ready[i] && (next < 0 || t.heads[i].Time < t.heads[next].Time) {
				next = i
			}
		}
		if next < 0 || t.full() {
			break
		}
		err := t.write(&t.heads[next])
		t.captures[next].Done()
		t.ready[next] = false
		if err != nil {
			return err
		}
	}
	return t.flush()
}

func (t *stream) write(r *capture.Record) error {
	at := 2 * r.Link
	if r.Host {
		at++
	}
	flags := &pcapgo.NgEpbFlags{Direction: pcapgo.NgEpbFlagDirectionInbound}
	if r.Out {
		flags.Direction = pcapgo.NgEpbFlagDirectionOutbound
	}
	info := gopacket.CaptureInfo{Timestamp: time.Unix(0, r.Time), CaptureLength: len(r.Data), Length: r.Len, InterfaceIndex: at}
	if err := t.out.WritePacketWithOptions(info, r.Data, pcapgo.NgPacketOptions{Comments: []string{comment(r)}, Flags: flags}); err != nil {
		return err
	}
	t.written++
	t.s.packets.Add(1)
	return nil
}

func (t *stream) flush() error {
	if err := t.out.Flush(); err != nil {
		return err
	}
	return t.control.Flush()
}

func (t *stream) dropped() (rate, room uint64) {
	for _, c := range t.captures {
		r, f := c.Dropped()
		rate, room = rate+r, room+f
	}
	return rate, room
}

// comment returns link, verdict, events and watch of a packet as text, with the names of the
// configuration and the metrics.
func comment(r *capture.Record) string {
	s := "stage=in"
	if r.Out {
		s = "stage=out"
	}
	if r.ToNetwork {
		s += " direction=to_network"
	} else {
		s += " direction=to_host"
	}
	if r.Watch != "" {
		s += " watch=" + r.Watch
	}
	var events []string
	for e := range event.NumEvents {
		if r.Events.Has(event.Event(e)) {
			events = append(events, event.Event(e).String())
		}
	}
	if len(events) > 0 {
		s += " events=" + strings.Join(events, ",")
	}
	if r.Episode != 0 {
		s += fmt.Sprintf(" episode=%d", r.Episode)
	}
	if r.Malformed != inthdr.ReasonNone {
		s += " malformed=" + r.Malformed.String()
	}
	if r.Dropped {
		s += " drop=" + burst.DropReason(r.Reason).String()
	}
	return s
}
