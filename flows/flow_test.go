package flows

import "testing"

// TestWindows: each hop has eight bits of its own, and a flow is settled again when the last of them is zero.
func TestWindows(t *testing.T) {
	var f Flow
	for i := range MaxHops {
		f.SetWindow(i, uint8(0x80|i))
	}
	f.SetWindow(3, 0x55)
	f.SetWindow(11, 0xaa)
	for i := range MaxHops {
		want := uint8(0x80 | i)
		switch i {
		case 3:
			want = 0x55
		case 11:
			want = 0xaa
		}
		if got := f.Window(i); got != want {
			t.Errorf("hop %d: window %#x, want %#x", i, got, want)
		}
	}
	if f.windows != [2]uint64{0x87868584_55828180, 0x8f8e8d8c_aa8a8988} {
		t.Errorf("windows %#x", f.windows)
	}
	f.SetEndWindow(1)
	for i := range MaxHops {
		if f.SetWindow(i, 0); f.Settled(0, Want(0).Mask()) {
			t.Errorf("settled behind hop %d, before the end-to-end window is zero", i)
		}
	}
	if f.SetEndWindow(0); !f.Settled(0, Want(0).Mask()) || f.EndWindow != 0 {
		t.Errorf("not settled with all windows zero, end %#x", f.EndWindow)
	}
}

// TestHeld: a flow is held from Hold to Release; its other flags stay.
func TestHeld(t *testing.T) {
	f := Flow{flags: endKnown | hasLoss}
	if f.Held() {
		t.Error("held before Hold")
	}
	if f.Hold(); !f.Held() || f.Closing() || !f.EndKnown() {
		t.Errorf("after Hold: flags %b", f.flags)
	}
	f.Close()
	if f.Release(); f.Held() || !f.Closing() || f.flags != endKnown|hasLoss|closing {
		t.Errorf("after Release: flags %b", f.flags)
	}
}

// TestFull: Full foretells exactly the packets for which Count needs Cold.
func TestFull(t *testing.T) {
	for _, c := range []struct {
		name           string
		packets, bytes uint32
		n              uint16
		full           bool
	}{
		{"new", 0, 0, 1500, false},
		{"half of the bytes", 7, 1 << 31, 1500, false},
		{"last packet that has room", 1<<32 - 2, 0, 60, false},
		{"one packet more", 1<<32 - 1, 0, 60, true},
		{"last byte that has room", 7, 1<<32 - 61, 60, false},
		{"one byte more", 7, 1<<32 - 60, 60, true},
		{"no byte at the end", 7, 1<<32 - 1, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Flow{packets: c.packets, bytes: c.bytes, cold: new(Cold)}
			if got := f.Full(c.n); got != c.full {
				t.Errorf("full %v, want %v", got, c.full)
			}
			if f.Count(c.n); f.HasCold() != c.full {
				t.Errorf("Count took Cold: %v, want %v", f.HasCold(), c.full)
			}
			if p, b := f.Totals(); p != uint64(c.packets)+1 || b != uint64(c.bytes)+uint64(c.n) {
				t.Errorf("%d packets, %d bytes", p, b)
			}
		})
	}
}
