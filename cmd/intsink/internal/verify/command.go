// The command verify: puts every kind of INT into each packet of a capture, through a sink,
// and compares.

package verify

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/gopacket/gopacket/layers"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/pcapfile"
	"intsink/cmd/internal/progress"
	"intsink/cmd/intsink/internal/simulate"
	"intsink/conf"
	"intsink/engine/wire/packet"
)

// Options are the flags of the command.
type Options struct {
	In    string
	Kinds *conf.INT // only kinds that a block int reads; nil: all
	Seed  uint64
	Limit int
	JSON  bool
}

// Run tries all kinds with the packets of the capture and prints the result. Its error has exit
// code 1 if a byte was not given back, or if nothing could be tried.
func Run(stdout, stderr io.Writer, o *Options) error {
	switch {
	case o.In == "":
		return errors.New("--in is missing: name a capture (pcap or pcapng), or - for standard input")
	case o.Limit < 0:
		return fmt.Errorf("--limit %d: must be a number of packets, or 0 for all", o.Limit)
	}
	in, err := pcapfile.OpenEthernet(o.In)
	if err != nil {
		return cli.Failed(err)
	}
	defer in.Close()
	v, err := newVerifier(o)
	if err != nil {
		return err
	}
	if err := v.all(in, progress.New(stderr, "verify", int64(o.Limit), cli.Count(o.Limit, "packet"))); err != nil {
		return cli.Failed(err)
	}
	in.Warn(stderr)
	if o.JSON {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		err = e.Encode(v.result)
	} else {
		_, err = io.WriteString(stdout, v.result.text())
	}
	switch {
	case err != nil:
		return cli.Failed(err)
	case v.result.Different > 0:
		return cli.Failed(fmt.Errorf("%d of %d cases gave back other bytes: this is a fault of intsink; please report it with the packet that is shown", v.result.Different, v.result.Cases))
	case v.result.Cases == 0:
		return cli.Failed(fmt.Errorf("%s: no packet could be tried", o.In))
	}
	return nil
}

// verifier tries one packet after another.
type verifier struct {
	options *Options
	random  *rand.Rand
	kinds   []kind
	sinks   map[string]*sink // keyed by their lines of configuration
	result  Result
}

func newVerifier(o *Options) (*verifier, error) {
	v := &verifier{options: o, random: rand.New(rand.NewPCG(o.Seed, 0)), sinks: map[string]*sink{}}
	v.kinds = kinds(v.random)
	if o.Kinds != nil {
		v.kinds = slices.DeleteFunc(v.kinds, func(k kind) bool { return !k.readBy(o.Kinds) })
	}
	v.result = Result{Capture: o.In, Seed: o.Seed, NotTried: []NotTried{}}
	for i := range v.kinds {
		k := &v.kinds[i]
		v.result.Kinds = append(v.result.Kinds, KindResult{Kind: k.name, Version: k.format, Headers: []string{}, Hops: []int{}, NotTried: []NotTried{}})
		if v.sinks[k.config] == nil {
			s, err := newSink(k.config)
			if err != nil {
				return nil, err
			}
			v.sinks[k.config] = s
		}
	}
	return v, nil
}

func (v *verifier) all(in *pcapfile.Reader, line *progress.Line) error {
	defer line.Done()
	for {
		p, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if v.options.Limit > 0 && v.result.Packets == v.options.Limit {
			v.result.Beyond = true
			return nil
		}
		v.result.Packets++
		line.Step(int64(v.result.Packets), uint64(v.result.Packets))
		why := unfit(&p)
		if why == "" && !v.packet(p.Data) {
			why = "no kind of INT goes into it"
		}
		if why != "" {
			count(&v.result.NotTried, why)
			continue
		}
		v.result.Tried++
	}
}

// unfit returns why no INT can be put into a packet; "": it can.
func unfit(p *pcapfile.Packet) string {
	var l packet.Layers
	switch {
	case p.Link != layers.LinkTypeEthernet:
		return "not Ethernet"
	case len(p.Data) > simulate.MaxFrame:
		return "longer than 65535 bytes"
	}
	switch packet.Parse(p.Data, len(p.Data), &l) {
	case packet.OK:
	case packet.NotIP:
		return "neither IPv4 nor IPv6"
	case packet.TooDeep:
		return "more headers than the sink looks behind"
	default:
		return "cut short: the packet is longer than what was captured"
	}
	if l.Fragment != packet.NotFragment {
		return "a fragment: sources of INT leave those alone"
	}
	return ""
}

// packet tries all kinds with a packet, and reports whether any could be tried.
func (v *verifier) packet(frame []byte) (tried bool) {
	for i := range v.kinds {
		k, r := &v.kinds[i], &v.result.Kinds[i]
		why := v.kind(k, r, frame)
		if why == "" {
			r.Packets++
			tried = true
			continue
		}
		count(&r.NotTried, why)
	}
	return tried
}

// kind tries all variants of one kind with a packet. If it tried none it returns why.
func (v *verifier) kind(k *kind, r *KindResult, frame []byte) (why string) {
	original, err := k.original(frame)
	if err != nil {
		return whyNot(err)
	}
	s, cases := v.sinks[k.config], 0
	for _, x := range k.variants() {
		marked, want, err := k.marked(original, x, v.random)
		if err != nil || len(marked) > simulate.MaxFrame {
			if why = "it would be too long with its INT"; err != nil {
				why = whyNot(err)
			}
			continue
		}
		if cases == 0 && s.isINT(want) {
			return "it is marked as INT already, for such a sink"
		}
		cases++
		add(&r.Headers, x.kind)
		add(&r.Hops, x.hops)
		slices.Sort(r.Hops)
		if !v.compare(k, s, x, marked, want) {
			r.Different++
			v.result.Different++
		}
	}
	r.Cases += cases
	v.result.Cases += cases
	if cases > 0 {
		return ""
	}
	return why
}

// compare has the sink remove the INT of a packet twice: the first time it parses the headers,
// the second time it may match a template. It returns whether both gave want.
func (v *verifier) compare(k *kind, s *sink, x variant, marked, want []byte) bool {
	for pass := 1; pass <= 2; pass++ {
		got := s.pass(marked)
		if bytes.Equal(got, want) {
			continue
		}
		if v.result.First == nil {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			v.result.First = &Difference{
				Frame: v.result.Packets, Kind: k.name, Version: k.format, Header: x.kind, Hops: x.hops, Pass: pass, Offset: at,
				Want: hex.EncodeToString(want), Got: hex.EncodeToString(got), Marked: hex.EncodeToString(marked),
			}
		}
		return false
	}
	return true
}
