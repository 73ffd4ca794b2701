package iface

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/internal/netns"
)

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so after 10 s: %s", what)
		}
	}
}

func TestLookup(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, "ip link add aa0 mtu 1400 address 02:00:00:00:00:07 type veth peer name bb0; ip link set aa0 up")
	s, err := Lookup("aa0")
	if err != nil || s.Name != "aa0" || s.MTU != 1400 || s.MAC.String() != "02:00:00:00:00:07" || !s.Up || s.Carrier || s.Index == 0 || s.LinkUp() {
		t.Errorf("%+v, %v", s, err)
	}
	for _, name := range []string{"", "nosuch0", "abcdefghijklmnop"} {
		if _, err := Lookup(name); !errors.Is(err, ErrGone) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestFollow(t *testing.T) {
	if !netns.In(t) {
		return
	}
	if _, err := Follow("aa0", nil); !errors.Is(err, ErrGone) {
		t.Errorf("of an interface that is not there: %v", err)
	}
	netns.Sh(t, "ip link add aa0 type veth peer name bb0; ip link set aa0 up; ip link set bb0 up")
	changed := make(chan bool, 1000)
	f, err := Follow("aa0", func() { changed <- true })
	if err != nil {
		t.Fatal(err)
	}
	deleted := false
	for _, c := range []struct{ do, down string }{
		{"true", ""},
		{"ip link set bb0 down", "aa0 has no carrier"},
		{"ip link set bb0 up", ""},
		{"ip link set aa0 down", "ip link set aa0 up"},
		{"ip link set aa0 name cc0; ip link set cc0 up", ""},
		{"ip link set bb0 down", "cc0 has no carrier"},
		{"ip link set bb0 up", ""},
		{"ip link set cc0 promisc on", ""},
		{"ip link del bb0", "aa0 is gone"},
		{"ip link add dd0 type veth peer name ee0; ip link set dd0 up", "aa0 is gone"},
		{"ip link add aa0 type veth peer name bb0; ip link set aa0 up; ip link set bb0 up", ""},
		{"ip link add br0 type bridge 2>/dev/null && ip link set aa0 master br0 && ip link set aa0 nomaster || true", ""},
	} {
		deleted = deleted || strings.HasPrefix(c.do, "ip link del")
		netns.Sh(t, c.do)
		eventually(t, c.do, func() bool {
			s := f.LinkDown()
			return (s == "" && c.down == "" || c.down != "" && strings.Contains(s, c.down)) && f.MadeAnew() == deleted
		})
	}
	if len(changed) == 0 || f.Changes() < 8 {
		t.Errorf("announced %d changes, %d of them of the link", len(changed), f.Changes())
	}
	netns.Sh(t, "ip link set aa0 mtu 1234")
	eventually(t, "the MTU", func() bool { s, present := f.State(); return present && s.MTU == 1234 })
	before := f.Changes()
	f.handle(Event{Lost: true})
	if f.LinkDown() != "" || f.Changes() != before {
		t.Error("events lost, and nothing had changed")
	}
	f.Close()
	netns.Sh(t, "ip link del aa0")
	f.handle(Event{Lost: true})
	if f.LinkDown() != "interface aa0 is gone" {
		t.Error("deleted while events were lost:", f.LinkDown())
	}
}

// TestFollowThroughLostEvents: what the kernel had sent before it lost events is old, and says nothing of the
// interface as it is; one that was given another name is still the same.
func TestFollowThroughLostEvents(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, "ip link add aa0 type veth peer name bb0; ip link set aa0 up; ip link set bb0 up")
	busy := make(chan bool)
	f, err := Follow("aa0", func() { <-busy })
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defer close(busy)
	// The first event keeps the reader busy, the second waits, and the last ones find no room.
	netns.Sh(t, `ip link set aa0 mtu 1400
ip link set bb0 down
for i in $(seq 5000); do echo "link set aa0 mtu $((1000 + i % 100))"; done | ip -batch -
ip link set aa0 name cc0
ip link set bb0 up
ip link set cc0 mtu 1300`)
	eventually(t, "the interface as it is", func() bool {
		select {
		case busy <- true:
		default:
		}
		s, present := f.State()
		return present && s.Name == "cc0" && s.MTU == 1300 && f.LinkDown() == "" && !f.MadeAnew()
	})
}

func TestLock(t *testing.T) {
	if !netns.In(t) {
		return
	}
	const child = "INTSINK_TEST_LOCK"
	if os.Getenv(child) != "" {
		// The test tries, too: whoever is first lets go at once.
		eventually(t, "the lock is this process's", func() bool {
			_, err := Lock("aa0")
			return err == nil
		})
		time.Sleep(time.Minute) // until it is killed
		return
	}
	netns.Sh(t, "ip link add aa0 type veth peer name bb0; ip link property add dev aa0 altname another-name")
	holder := exec.Command(os.Args[0], "-test.run=^TestLock$", "-test.v")
	holder.Env = append(os.Environ(), child+"=1")
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("in use by process %d:", holder.Process.Pid)
	eventually(t, want, func() bool { // for a moment it has the name, but does not answer yet
		release, err := Lock("aa0")
		if err == nil {
			release()
		}
		return err != nil && strings.Contains(err.Error(), want)
	})
	if release, err := Lock("bb0"); err != nil {
		t.Error(err)
	} else {
		release()
	}
	holder.Process.Kill()
	holder.Wait()
	release, err := Lock("aa0")
	if err != nil {
		t.Fatalf("its holder was killed: %v", err)
	}
	release()
	if _, err := Lock("cc0"); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

// TestStrangersHoldNoLocks: a user who runs no sink has the names of locks, whether he listens there or not.
func TestStrangersHoldNoLocks(t *testing.T) {
	if !netns.In(t) {
		return
	}
	const child = "INTSINK_TEST_STRANGER"
	if os.Getenv(child) != "" {
		other := syscall.Setuid(65534) == nil // not where the test has a user namespace of one user
		for i, name := range []string{"listens", "silent"} {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err == nil {
				err = unix.Bind(fd, &unix.SockaddrUnix{Name: "@intsink/" + name})
			}
			if err == nil && i == 0 {
				err = unix.Listen(fd, 1)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		fmt.Println(other)
		time.Sleep(time.Minute) // until it is killed
		return
	}
	stranger := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	stranger.Env = append(os.Environ(), child+"=1")
	out, err := stranger.StdoutPipe()
	if err == nil {
		err = stranger.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { stranger.Process.Kill(); stranger.Wait() }()
	var other bool
	if _, err := fmt.Fscan(out, &other); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"listens", "silent"} {
		if _, holder, err := Claim(name); holder != "" && (other || name == "silent") || err != nil {
			t.Errorf("%s: %q %v", name, holder, err)
		}
	}
}

func TestEthtool(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, "ip link add aa0 type veth peer name bb0; ethtool -K aa0 gro on")
	if o := ReadOffloads("aa0"); !o.GRO || o.LRO {
		t.Errorf("%+v", o)
	}
	netns.Sh(t, "ethtool -K aa0 gro off")
	if o := ReadOffloads("aa0"); o.GRO {
		t.Errorf("%+v", o)
	}
	if n := Speed("aa0"); n != 10000 {
		t.Errorf("a veth of %d Mbit/s", n)
	}
	if n, o := Speed("nosuch0"), ReadOffloads("nosuch0"); n != 0 || o.GRO {
		t.Errorf("of no interface: %d, %+v", n, o)
	}
	if err := SetMTU("aa0", 1999); err != nil {
		t.Error(err)
	}
	if s, _ := Lookup("aa0"); s.MTU != 1999 {
		t.Errorf("%+v", s)
	}
	if err := SetMTU("aa0", 1<<20); err == nil || !strings.Contains(err.Error(), "ip link set aa0 mtu 1048576") {
		t.Error(err)
	}
}

func link(index int, flags uint32, attributes ...byte) []byte {
	b := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(b[4:], uint32(index))
	binary.NativeEndian.PutUint32(b[8:], flags)
	return append(b, attributes...)
}

func TestEventsThatAreNone(t *testing.T) {
	bridge := link(3, 0)
	bridge[0] = unix.AF_BRIDGE
	for name, m := range map[string]message{
		"of a bridge":  {unix.RTM_DELLINK, bridge},
		"of a route":   {unix.RTM_NEWROUTE, link(3, 0)},
		"empty":        {unix.RTM_NEWLINK, nil},
		"too short":    {unix.RTM_NEWLINK, link(3, 0)[:15]},
		"of no index":  {unix.RTM_NEWLINK, link(0, 0)},
		"its negative": {unix.RTM_NEWLINK, link(-3, 0)},
	} {
		if e, ok := event(m); ok {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestAnswer(t *testing.T) {
	no := binary.NativeEndian.AppendUint32(nil, uint32(1<<32-int64(unix.EPERM)))
	if _, err := answer([]message{{unix.NLMSG_ERROR, no}}); !errors.Is(err, unix.EPERM) {
		t.Error(err)
	}
	if _, err := answer([]message{{unix.NLMSG_ERROR, nil}}); err == nil {
		t.Error("of nothing")
	}
}

// FuzzMessages: whatever comes, it is read within its bounds.
func FuzzMessages(f *testing.F) {
	f.Add(append(request(7, ""), request(0, "eth0")...))
	f.Fuzz(func(t *testing.T, b []byte) {
		total := 0
		for _, m := range split(b) {
			total += len(m.data) + unix.SizeofNlMsghdr
			if e, ok := event(m); ok && (e.Index <= 0 || len(e.Name) > len(m.data)) {
				t.Errorf("%+v", e)
			}
			answer([]message{m})
		}
		if total > len(b) {
			t.Errorf("%d bytes of %d", total, len(b))
		}
	})
}
