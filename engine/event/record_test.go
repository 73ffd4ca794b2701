package event

import (
	"testing"

	"intsink/engine/episode"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// crossingFlow is a flow of a key of its own, whose packets cross queued's queue.
func crossingFlow(n uint32) *flows.Flow {
	f := new(flows.Flow)
	f.Key.SetIPv4(n, 99)
	return f
}

// TestEpisodeIsRecorded: each packet that passes the queue from onset to end is counted, reported or not, with its flow's bytes;
// nothing before and after. One without an end of its own ends when the timeout is over.
func TestEpisodeIsRecorded(t *testing.T) {
	p := watching(Congestion)
	p.Thresholds.CongestionQuota = 1
	d := New([]Policy{p}, 1)
	defer d.Close()
	now, all := int64(second), [3]*flows.Flow{crossingFlow(1), crossingFlow(2), crossingFlow(3)}
	pass := func(n int, occupancy uint32, size uint16) {
		o := queued(occupancy, 700)
		o.Info.Size = size
		now += ms
		d.Packet(now, all[n], false, 0, o)
	}
	pass(0, 10, 100) // calm
	pass(0, 9000, 1000)
	for range 9 {
		pass(1, 9500, 1500)
		pass(2, 6000, 64) // between raise and clear
	}
	begin := now
	if open := d.Episodes().Open(); len(open) != 1 || open[0].Packets != 19 || open[0].Begin != second+2*ms {
		t.Fatalf("%d open", len(open))
	}
	pass(0, 10, 100) // the end
	pass(0, 10, 100)
	ended, next := d.Episodes().Ended(0)
	if len(ended) != 1 || next != 1 {
		t.Fatalf("%d ended", len(ended))
	}
	r := &ended[0]
	if r.Packets != 20 || r.Bytes != 1000+9*1500+9*64+100 || r.Ended != episode.Cleared || r.End != begin+ms || r.PeakOccupancy != 9500 || r.PeakLatency != 700 {
		t.Errorf("%d packets, %d bytes, %v, peaks %d and %d", r.Packets, r.Bytes, r.Ended, r.PeakOccupancy, r.PeakLatency)
	}
	if most := r.Culprits.Most(3); len(most) != 3 || most[0].Flow != all[1].Key.Canonical() || most[0].Sum != 9*1500 || most[1].Sum != 1100 {
		t.Errorf("culprits %+v", most)
	}
	pass(0, 9000, 1000)
	d.Sweep(now + p.Thresholds.CongestionTimeout - 1)
	if open := d.Episodes().Open(); len(open) != 1 {
		t.Errorf("%d open before the timeout", len(open))
	}
	d.Sweep(now + p.Thresholds.CongestionTimeout + expireEvery)
	if ended, _ := d.Episodes().Ended(next); len(ended) != 1 || ended[0].Ended != episode.Silent || ended[0].End != now {
		t.Errorf("%d ended by the timeout", len(ended))
	}
}

// TestMarksAreCounted: an episode has how many of its packets a queue could mark, and how many one has, by the outermost IP header;
// of a packet with IFA or IOAM that is not where its hops stand.
func TestMarksAreCounted(t *testing.T) {
	d := New([]Policy{watching(Congestion)}, 1)
	defer d.Close()
	f := crossingFlow(1)
	for i, tos := range []byte{0, 1, 2, 3, 0xff, 0xfc} {
		for _, format := range []inthdr.Format{inthdr.Format2, inthdr.FormatIFA, inthdr.FormatIOAM} {
			ip := append(make([]byte, 12), 8, 0, 0x45, tos)
			o, q := d.Observation(), queued(9000, 700)
			*o = *q
			if format != inthdr.Format2 {
				o.Info.Format, o.Own = format, ip
			} else {
				stack := o.Info.Stack
				o.Info.Stack, o.Frame = uint16(len(ip)), append(ip, o.Frame[stack:]...)
			}
			d.Packet(second+int64(i)*ms, f, false, 0, o)
		}
	}
	open := d.Episodes().Open()
	if len(open) != 1 || open[0].Packets != 18 || open[0].Capable != 12 || open[0].Marked != 6 {
		t.Errorf("%d open; %d packets, %d could be marked, %d are; want 18, 12, 6", len(open), open[0].Packets, open[0].Capable, open[0].Marked)
	}
}

// TestEvidenceIsSpread: of an episode the onset, each 2^n-th packet, one twice as bad, and the end are reported, by what is usual
// and by a number.
func TestEvidenceIsSpread(t *testing.T) {
	for name, threshold := range map[string]func(*Thresholds){
		"by what is usual": byUsual, "by a number": func(t *Thresholds) { t.CongestionRaise, t.CongestionLatency = 0, 100_000 },
	} {
		t.Run(name, func(t *testing.T) { evidenceIsSpread(t, threshold) })
	}
}

func evidenceIsSpread(t *testing.T, threshold func(*Thresholds)) {
	p := watching(Congestion)
	threshold(&p.Thresholds)
	p.Thresholds.CongestionQuota = 32
	f := begun(t, p)
	defer f.d.Close()
	f.usualFor(2, unknown32, 1700)
	reported := 0
	for n := range 1000 {
		latency := uint32(150_000)
		if n == 500 {
			latency = 900_000
		}
		if f.look(ms, queued(40, latency)).Has(Congestion) {
			reported++
		}
	}
	if reported != 1+9+1 { // the onset, packets 2 to 512, the peak
		t.Errorf("%d of 1000 are reported", reported)
	}
	for n := range 5 { // by what is usual, four calm ones and a second are needed
		if f.look(second/2, queued(40, 10)).Has(Congestion) {
			return
		} else if p.Thresholds.CongestionFactor == 0 || n == 4 {
			t.Error("the end is not")
		}
	}
}

// TestMadeUpQueuesTakeNoRecord: a hundred times as many made-up queues as there are records, all full, before a real one and beside it:
// within three seconds it has a record with those who fill it.
func TestMadeUpQueuesTakeNoRecord(t *testing.T) {
	p := watching(Congestion)
	p.Thresholds.CongestionTimeout = 60 * second
	d := New([]Policy{p}, 1)
	defer d.Close()
	now, real, forger := int64(second), [3]*flows.Flow{crossingFlow(1), crossingFlow(2), crossingFlow(3)}, crossingFlow(666)
	forged := uint32(0)
	for tick := range 4000 {
		now += ms
		for range 2 { // 6400 in 3.2 s
			forged++
			o := told(values{node: 1000 + forged, ports: 0x10002, queue: 9999 | unnumbered, latency: 100, tx: unknown32})
			o.Info.Size = 80
			d.Packet(now, forger, false, 0, o)
		}
		if tick >= 1000 {
			o := queued(9000, 700)
			o.Info.Size = 1400
			d.Packet(now, real[tick%3], false, 0, o)
		}
		d.Sweep(now)
	}
	for _, r := range d.Episodes().Open() {
		if r.Queue == crossedQueue && r.Packets > 1000 && r.Doubt() == "" {
			return
		}
	}
	t.Errorf("the real queue's episode has no record: %+v", d.Episodes().Totals())
}
