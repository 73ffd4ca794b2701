package livecapture

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"

	"intsink/engine/aside/capture"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
)

// written returns records as pcapng, of a sink with a link and a tap.
func written(t *testing.T, records ...capture.Record) []byte {
	t.Helper()
	var out bytes.Buffer
	s := &stream{s: &Server{}}
	for i, p := range interfacesOf(inForce(), 65535) {
		var err error
		if i == 0 {
			s.out, err = pcapgo.NewNgWriterInterface(&out, p, pcapgo.NgWriterOptions{})
		} else {
			_, err = s.out.AddInterface(p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range records {
		if err := s.write(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	s.out.Flush()
	return out.Bytes()
}

// TestComments compares the comments of packets.
func TestComments(t *testing.T) {
	for _, c := range []struct {
		r    capture.Record
		want string
	}{
		{capture.Record{}, "stage=in direction=to_host"},
		{capture.Record{Out: true, ToNetwork: true, Events: event.Leak.Set()}, "stage=out direction=to_network events=leak"},
		{
			capture.Record{Watch: "web", Events: event.NewFlow.Set() | event.Malformed.Set(), Malformed: inthdr.ReasonHopML, Dropped: true, Reason: uint8(burst.DropTxFull)},
			"stage=in direction=to_host watch=web events=new_flow,malformed malformed=hop_ml drop=tx_full",
		},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := comment(&c.r); got != c.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestRunningWhenAllHaveBegun: a capture counts as running from when the last worker takes
// packets, not from when it was asked for.
func TestRunningWhenAllHaveBegun(t *testing.T) {
	s := &stream{s: &Server{}}
	for range 2 {
		s.captures = append(s.captures, capture.New(capture.Filter{SnapLength: 100}, 1e9, 1e6, 1<<16))
	}
	for begun := range 3 {
		if begun > 0 {
			s.captures[2-begun].Begin()
		}
		s.look()
		if got := s.s.Counters().Running; got != (begun == 2) {
			t.Errorf("running: %v with %d of 2 workers that take packets", got, begun)
		}
	}
}

// TestBlocksOfAStreamThatBreaksOff: blocks returns the whole blocks of it, and then an error.
func TestBlocksOfAStreamThatBreaksOff(t *testing.T) {
	whole := written(t, capture.Record{Data: make([]byte, 60), Len: 60, Time: 5}, capture.Record{Data: make([]byte, 61), Len: 61, Time: 6})
	for cut := range len(whole) {
		var out bytes.Buffer
		w := &output{w: &out}
		readErr, writeErr := transfer(w, bytes.NewReader(whole[:cut]), nil)
		if err := w.close(writeErr); err != nil {
			t.Fatal(err)
		}
		n := w.packets
		if !bytes.HasPrefix(whole, out.Bytes()) || n > 1 || readErr != nil && !errors.Is(readErr, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: %d packets, %v, %v", cut, n, readErr, writeErr)
		}
	}
	for name, b := range map[string][]byte{
		"text": []byte("HTTP/1.1 200 OK, and so on"), "too long": {10, 13, 13, 10, 0, 0, 0, 1}, "too short": {10, 13, 13, 10, 8, 0, 0, 0}, "lengths differ": append(bytes.Clone(whole[:24]), 1, 0, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := newBlocks(bytes.NewReader(b)).next(); err == nil {
				t.Error("it was taken for pcapng")
			}
		})
	}
}

// FuzzPcapng writes a packet and reads it back with gopacket, through the block reader of the
// command.
func FuzzPcapng(f *testing.F) {
	f.Add([]byte("packet"), "watch", int64(1_700_000_000_123_456_789), uint8(3), uint32(7), uint16(100))
	f.Fuzz(func(t *testing.T, data []byte, watch string, at int64, flags uint8, events uint32, more uint16) {
		if len(data) > capture.MaxSnap || len(watch) > 255 || at < 0 {
			return
		}
		r := capture.Record{
			Time: at, Host: flags&1 != 0, Out: flags&2 != 0, ToNetwork: flags&4 != 0, Dropped: flags&8 != 0, Reason: flags >> 4 % uint8(burst.NumDropReasons),
			Events: event.Set(events), Watch: watch, Len: len(data) + int(more), Data: data,
		}
		var copied bytes.Buffer
		w := &output{w: &copied}
		readErr, writeErr := transfer(w, bytes.NewReader(written(t, r)), nil)
		if writeErr = w.close(writeErr); w.packets != 1 || readErr != nil || writeErr != nil {
			t.Fatalf("%d packets, %v, %v", w.packets, readErr, writeErr)
		}
		in, err := pcapgo.NewNgReader(&copied, pcapgo.NgReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, info, options, err := in.ReadPacketDataWithOptions()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, data) || info.Length != r.Len || info.Timestamp.UnixNano() != at || info.InterfaceIndex != int(flags&1) {
			t.Errorf("%d bytes of %d at %d by interface %d", len(got), info.Length, info.Timestamp.UnixNano(), info.InterfaceIndex)
		}
		want := pcapgo.NgEpbFlagDirectionInbound
		if r.Out {
			want = pcapgo.NgEpbFlagDirectionOutbound
		}
		if len(options.Comments) != 1 || options.Comments[0] != comment(&r) || options.Flags == nil || options.Flags.Direction != want {
			t.Errorf("%+v", options)
		}
	})
}

// FuzzBlocks: any input gives whole blocks of it, and then an error.
func FuzzBlocks(f *testing.F) {
	f.Add([]byte{10, 13, 13, 10, 12, 0, 0, 0, 12, 0, 0, 0, 6, 0, 0, 0, 16, 0, 0, 0, 1, 2, 3, 4, 16, 0, 0, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		w := &output{w: &out}
		readErr, writeErr := transfer(w, bytes.NewReader(in), nil)
		writeErr = w.close(writeErr)
		if writeErr != nil || !bytes.HasPrefix(in, out.Bytes()) || readErr == nil && out.Len() != len(in) {
			t.Errorf("%d of %d bytes, %v, %v", out.Len(), len(in), readErr, writeErr)
		}
	})
}
