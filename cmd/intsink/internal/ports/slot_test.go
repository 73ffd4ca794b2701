package ports

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"intsink/cmd/intsink/internal/vitals"
	"intsink/conf"
)

// plugged is a device that is there, until it is removed.
type plugged struct {
	stub
	removed, hangs bool
}

func (p *plugged) queue(int) Queue { return nil }
func (p *plugged) Removed() bool   { return p.removed }
func (p *plugged) settle() bool    { return !p.hangs }

func (p *plugged) counters() (vitals.PortCounters, error) {
	return vitals.PortCounters{RxPackets: 1, TxPackets: 2, RxBytes: 3, TxBytes: 4, RxMissed: 5, RxErrors: 6, TxErrors: 7, RxNoMbuf: 8}, nil
}

// machineOf has devices that come and go.
type machineOf struct {
	there  map[string]*plugged
	opened []string
}

func (m *machineOf) open(p *conf.Port) (device, error) {
	m.opened = append(m.opened, p.Name)
	if d := m.there[p.Name]; d != nil {
		return d, nil
	}
	return nil, errors.New("no such interface")
}

// TestTogether: the two ports of a link are opened once both are there. One that is there alone is closed again, and not tried
// until the other one is.
func TestTogether(t *testing.T) {
	m := &machineOf{there: map[string]*plugged{}}
	l := together{link: "l"}
	for _, name := range []string{"a", "b"} {
		l.slots = append(l.slots, emptySlot(&conf.Port{Name: name, Device: "kernel:" + name}, 1, errors.New("not yet")))
	}
	for _, c := range []struct {
		there, opened, filled string
		down                  string // of both
	}{
		{"", "a", "", "no such interface; tried again each second | not yet; tried again each second"},
		{"b", "a", "", "no such interface; tried again each second | not yet; tried again each second"},
		{"a", "a b", "", `link "l" is stopped, as port "b" is not there; tried again each second | no such interface; tried again each second`},
		{"a", "b", "", `link "l" is stopped, as port "b" is not there; tried again each second | no such interface; tried again each second`},
		{"b", "b a", "", `no such interface; tried again each second | link "l" is stopped, as port "a" is not there; tried again each second`},
		{"a b", "a b", "a b", " | "},
		{"a b", "", "", " | "},
	} {
		m.there, m.opened = map[string]*plugged{}, nil
		for _, name := range strings.Fields(c.there) {
			m.there[name] = &plugged{}
		}
		var filled []string
		for _, s := range l.fill(m.open) {
			filled = append(filled, s.conf.Name)
		}
		down := l.slots[0].linkDown() + " | " + l.slots[1].linkDown()
		slices.Sort(filled)
		if strings.Join(m.opened, " ") != c.opened || strings.Join(filled, " ") != c.filled || down != c.down {
			t.Errorf("%q there: tried %v, filled %v, %s", c.there, m.opened, filled, down)
		}
		for name, d := range m.there {
			if wanted := c.filled != "" || !slices.Contains(m.opened, name); d.closed == wanted {
				t.Errorf("%q there: %s closed: %v", c.there, name, d.closed)
			}
		}
	}
}

// TestWorthATry: a NIC is tried once, and again once it is given to a driver, or anew, also where that happens during an attempt.
func TestWorthATry(t *testing.T) {
	before := root
	t.Cleanup(func() { root = before })
	root = t.TempDir()
	nic := filepath.Join(root, "sys/bus/pci/devices/0000:3b:00.0")
	if err := os.MkdirAll(nic, 0o755); err != nil {
		t.Fatal(err)
	}
	bind := func(driver string) {
		t.Helper()
		os.Rename(nic+"/driver", nic+"/old") // its inode is not used again meanwhile
		if err := os.Symlink("/drivers/"+driver, nic+"/driver"); err != nil {
			t.Fatal(err)
		}
	}
	l := together{slots: []*slot{emptySlot(&conf.Port{Name: "a", Device: "3B:00.0,arg=1"}, 1, errors.New("not yet"))}}
	for _, c := range []struct {
		what   string
		before func()
		during func()
		tries  int
	}{
		{"what failed at the start", nil, nil, 1},
		{"nothing has changed", nil, nil, 0},
		{"it is bound", func() { bind("vfio-pci") }, nil, 1},
		{"still is", nil, nil, 0},
		{"to another driver", func() { bind("igb") }, func() { bind("vfio-pci") }, 1},
		{"which was taken away meanwhile", nil, nil, 1},
		{"still is", nil, nil, 0},
		{"bound again to the same one", func() { bind("vfio-pci") }, nil, 1},
	} {
		if c.before != nil {
			c.before()
		}
		tries := 0
		l.fill(func(*conf.Port) (device, error) {
			if tries++; c.during != nil {
				c.during()
			}
			return nil, errors.New("no")
		})
		if tries != c.tries {
			t.Errorf("%s: tried %d times, want %d", c.what, tries, c.tries)
		}
	}
}

// TestLetGo: a device that is to be removed is closed once no worker uses it and its driver answers; then the slot is filled
// again by what comes.
func TestLetGo(t *testing.T) {
	d := &plugged{}
	s := newSlot(&conf.Port{Name: "a", Device: "kernel:a"}, 1)
	s.fill(d)
	q := s.all[0].(*kernelQueue)
	polls, asked := false, 0
	anew := func() bool { asked++; return polls }
	look := func(what string, closed, empty bool) {
		t.Helper()
		if done := s.letGo(anew); d.closed != closed || s.empty() != empty || done == (d.removed && !closed) {
			t.Errorf("%s: closed %v, empty %v, done %v", what, d.closed, s.empty(), done)
		}
	}
	if look("nobody takes it away", false, false); asked != 0 || q.inner.Load() == nil {
		t.Error("it is not used any more")
	}
	d.removed = true
	if look("a worker hangs", false, false); q.inner.Load() != nil {
		t.Error("it is still used")
	}
	polls, d.hangs = true, true
	look("the driver hangs", false, false)
	d.hangs = false
	look("both go on", true, true)
	if c, err := s.counters(); err != nil || c.TxBytes != 4 {
		t.Errorf("of the device that is gone: %+v, %v", c, err)
	}
	if down := s.linkDown(); !strings.HasPrefix(down, "the device was taken away") {
		t.Errorf("down: %s", down)
	}
	l := together{slots: []*slot{s}}
	d = &plugged{}
	if filled := l.fill(func(*conf.Port) (device, error) { return d, nil }); fmt.Sprint(filled) != fmt.Sprint([]*slot{s}) || q.inner.Load() == nil {
		t.Errorf("it is back: %v filled", filled)
	}
	if c, err := s.counters(); err != nil || fmt.Sprint(c) != fmt.Sprint(vitals.PortCounters{RxPackets: 2, TxPackets: 4, RxBytes: 6, TxBytes: 8, RxMissed: 10, RxErrors: 12, TxErrors: 14, RxNoMbuf: 16}) {
		t.Errorf("of both devices: %+v, %v", c, err)
	}
}
