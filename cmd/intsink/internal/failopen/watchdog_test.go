package failopen

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/conf"
)

// kennel is a watchdog whose command records its arguments.
type kennel struct {
	*Watchdog
	conf  conf.Bypass
	stuck string
	err   error
	asked []string
	told  []string // turns that were announced
	now   time.Time
}

func newKennel() *kennel {
	k := &kennel{conf: conf.Bypass{Command: []string{"/switch", "eth0"}, After: time.Second, Timeout: time.Second}, now: time.Unix(1000, 0)}
	k.Watchdog = &Watchdog{
		Config: func() *conf.Bypass { return &k.conf }, Stuck: func(time.Duration) string { return k.stuck },
		Run: func(_ context.Context, command []string) error {
			k.asked = append(k.asked, strings.Join(command, " "))
			return k.err
		},
		Announce: func(c SwitchChange) { k.told = append(k.told, c.Was+" to "+c.State+" "+c.Why) },
	}
	return k
}

// after moves the clock by d, and returns the commands that were run meanwhile.
func (k *kennel) after(d time.Duration) []string {
	k.asked = nil
	for end := k.now.Add(d); k.now.Before(end); k.now = k.now.Add(barkEvery) {
		k.look(context.Background(), k.now)
	}
	return k.asked
}

func (k *kennel) expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

const (
	inline = "/switch eth0 inline"
	bypass = "/switch eth0 bypass"
	beat   = "/switch eth0 heartbeat"
)

// TestSwitchFollows: the switch follows the mode and the workers, with one command each way, and
// goes back in line a second after all workers poll again.
func TestSwitchFollows(t *testing.T) {
	k := newKennel()
	k.expect(t, "at start", k.after(5*time.Second), inline)
	k.Want(true, "asked for")
	k.expect(t, "asked for", k.after(5*time.Second), bypass)
	if s := k.State(); s.State != "bypass" || s.Why != "asked for" {
		t.Errorf("%+v", s)
	}
	k.Want(false, "")
	k.expect(t, "no longer", k.after(5*time.Second), inline)
	k.stuck = "worker w1 has not polled for 1s"
	k.expect(t, "stuck", k.after(5*time.Second), bypass)
	if s := k.State(); s.Why != k.stuck {
		t.Errorf("%+v", s)
	}
	k.stuck = ""
	k.expect(t, "for a moment", k.after(settle-2*barkEvery))
	k.expect(t, "for good", k.after(5*time.Second), inline)
	k.expect(t, "events", k.told, "unknown to inline ", "inline to bypass asked for", "bypass to inline ", "inline to bypass worker w1 has not polled for 1s", "bypass to inline ")
}

// TestAnotherSwitch: after a reload that names another command, its switch is turned to where the last one was.
func TestAnotherSwitch(t *testing.T) {
	for _, asked := range []bool{false, true} {
		k, want := newKennel(), "inline"
		if asked {
			want = "bypass"
		}
		k.Want(asked, "mode bypass")
		k.expect(t, "at start", k.after(time.Second), "/switch eth0 "+want)
		k.conf.Command = []string{"/switch", "eth1"}
		k.expect(t, "behind the reload", k.after(time.Second), "/switch eth1 "+want)
		k.conf.After = 2 * time.Second
		k.expect(t, "behind another reload", k.after(time.Second))
	}
}

// TestHeartbeat: the command heartbeat is run while the sink is in line, and not in bypass.
func TestHeartbeat(t *testing.T) {
	k := newKennel()
	k.conf.Heartbeat = 500 * time.Millisecond
	k.expect(t, "in line", k.after(2*time.Second), inline, beat, beat, beat)
	k.stuck = "stuck"
	k.expect(t, "stuck", k.after(5*time.Second), bypass)
}

// TestCommandThatFails: a command that fails is tried again each second, and counted.
func TestCommandThatFails(t *testing.T) {
	k := newKennel()
	k.after(time.Second)
	k.err = errors.New("no such card")
	k.Want(true, "asked for")
	if got := k.after(3 * time.Second); len(got) != 3 {
		t.Errorf("%q", got)
	}
	if s := k.State(); s.State != "inline" || s.Error != "no such card" || k.Commands(true) != 3 || k.Commands(false) != 1 {
		t.Errorf("%+v, %d failed, %d done", s, k.Commands(true), k.Commands(false))
	}
	k.expect(t, "events", k.told, "unknown to inline ")
	k.err = nil
	k.expect(t, "mended", k.after(3*time.Second), bypass)
	if s := k.State(); s.State != "bypass" || s.Error != "" {
		t.Errorf("%+v", s)
	}
}

// TestStopLeavesTheSwitchInBypass: a stop runs bypass; without a configured command nothing is
// run.
func TestStopLeavesTheSwitchInBypass(t *testing.T) {
	for _, command := range [][]string{{"/switch"}, nil} {
		k := newKennel()
		k.conf.Command = command
		begin := make(chan struct{})
		close(begin)
		ctx, stop := context.WithCancel(context.Background())
		stop()
		k.Watch(ctx, begin)
		if want := len(command); len(k.asked) != want || want > 0 && !strings.HasSuffix(k.asked[0], " bypass") {
			t.Errorf("%q: %q", command, k.asked)
		}
		if (k.State() == nil) != (command == nil) {
			t.Errorf("%q: %+v", command, k.State())
		}
	}
}

// TestStopAfterAFailure: a stop runs bypass at once, whatever failed just before.
func TestStopAfterAFailure(t *testing.T) {
	k := newKennel()
	k.conf.Heartbeat = 500 * time.Millisecond
	k.after(400 * time.Millisecond)
	k.err = errors.New("no such card")
	k.expect(t, "a heartbeat fails", k.after(200*time.Millisecond), beat)
	k.err, k.asked = nil, nil
	k.finish(k.now, nil)
	k.expect(t, "stop", k.asked, bypass)
	k.expect(t, "events", k.told, "unknown to inline ", "inline to bypass the sink stops")
}

// TestStopTriesAgain: a command that fails at the stop is tried every retryLast until it succeeds, or
// bypass.timeout has passed.
func TestStopTriesAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails int // so many commands
		want  int // so many are run
	}{
		{"the third succeeds", 2, 3}, {"none succeeds", 100, int(time.Second / retryLast)},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKennel()
			k.after(time.Second)
			k.asked = nil
			run, from := k.Run, k.now
			k.Run = func(ctx context.Context, command []string) error {
				k.err = nil
				if len(k.asked) < c.fails {
					k.err = errors.New("no such card")
				}
				if end, ok := ctx.Deadline(); !ok || time.Until(end) > k.conf.Timeout-time.Duration(len(k.asked))*retryLast {
					t.Errorf("command %d may take until %v", len(k.asked), end)
				}
				return run(ctx, command)
			}
			ticks := make(chan time.Time, 100)
			for i := range cap(ticks) {
				ticks <- from.Add(time.Duration(i+1) * barkEvery)
			}
			k.finish(from, ticks)
			if s := k.State(); len(k.asked) != c.want || (s.State == "bypass") != (c.fails < c.want) {
				t.Errorf("%q, %+v", k.asked, s)
			}
		})
	}
}

// TestAStartThatFails turns the switch, unless it is another process's: nobody knows where the process before left it.
func TestAStartThatFails(t *testing.T) {
	for _, ours := range []bool{true, false} {
		k := newKennel()
		k.Ours = func() bool { return ours }
		ctx, stop := context.WithCancel(context.Background())
		stop()
		k.Watch(ctx, nil)
		if want := map[bool]int{true: 1}[ours]; len(k.asked) != want || want > 0 && k.asked[0] != bypass {
			t.Errorf("ours %v: %q", ours, k.asked)
		}
	}
}

// TestStopEndsACommand: a command that takes long ends with the stop, and whatever it was, the switch goes to bypass.
func TestStopEndsACommand(t *testing.T) {
	k := newKennel()
	k.conf.Timeout = time.Hour
	k.state.State, k.command = "bypass", k.conf.Command
	ctx, stop := context.WithCancel(context.Background())
	run := k.Run
	k.Run = func(ctx context.Context, command []string) error {
		if run(ctx, command); len(k.asked) > 1 {
			return nil
		}
		stop()
		<-ctx.Done()
		return ctx.Err()
	}
	begin := make(chan struct{})
	close(begin)
	k.Watch(ctx, begin)
	k.expect(t, "stop", k.asked, inline, bypass)
}
