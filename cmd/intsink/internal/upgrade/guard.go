// Guard: the process that the old program leaves behind, and that becomes it again.

package upgrade

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/internal/notify"
	"intsink/cmd/intsink/internal/control"
)

// How long a new program may take.
const (
	firstBark    = 30 * time.Second // until its workers poll
	readyWithin  = 60 * time.Second // until its links are up
	watchdog     = 10 * time.Second // where systemd says nothing; half of it is between two signs of life
	stopPatience = 25 * time.Second // to stop when it has asked to go back
	allPatience  = 5 * time.Second  // for what it has started to be gone
	grace        = 10 * time.Second // after the end of the trial, for it to say so itself
)

// Guard is what a guard knows.
type Guard struct {
	Pid     int    // of the new program
	Fd      int    // of the socket to it
	Version string // its
	Trial   *Trial
	Began   bool   // it has had its turn
	Listen  int    // of what listens on Socket
	Socket  string // where somebody confirms
	Mine    []int  // children of before it: of commands of the configuration

	began, barked time.Time
	ready, kept   bool
	asks          *confirmation       // who has confirmed, and waits for the answer; nil: nobody does
	stopped       bool                // by a signal
	said          string              // the last status that it told
	back          *control.EndedTrial // why it goes, and what is to be told
	stopBy        time.Time           // when it is killed that has asked to go back; zero: it has not
}

// GuardOf reads from environment whether this process is a guard; nil: it is not.
func GuardOf(getenv func(string) string) *Guard {
	var g Guard
	if json.Unmarshal([]byte(getenv(guardEnv)), &g) != nil {
		return nil
	}
	return &g
}

// Run gives the new program its turn and watches over it. It returns when the service is to end, or when it is in the new program's hands.
func (g *Guard) Run() error {
	unix.CloseOnExec(g.Fd)
	adopt(true)
	asked, stopListening := g.listen()
	defer stopListening()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGHUP, unix.SIGTERM, unix.SIGINT)
	heard, ended := make(chan string), make(chan unix.WaitStatus, 1)
	g.began = time.Now()
	g.Go()
	go hear(g.Fd, heard)
	go reap(g.Pid, ended)
	systemd := notify.New(os.Getenv)
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case text := <-heard:
			if tell := g.take(text, time.Now()); tell != "" {
				systemd.Send(tell)
			}
		case c := <-asked:
			g.confirm(c, time.Now())
		case s := <-signals:
			g.stopped = g.stopped || s != unix.SIGHUP
			unix.Kill(g.Pid, s.(unix.Signal))
		case status := <-ended:
			endAll(g.Pid, func(pid int) bool { return !slices.Contains(g.Mine, pid) })
			g.takeRest(heard)
			switch {
			case g.stopped || g.kept:
				return asEnded(status)
			case g.back == nil:
				g.fail(control.TrialCrashed, "it ended ("+describe(status)+"): "+g.said)
			}
			return g.becomeOld(systemd)
		case now := <-tick.C:
			if !g.ready || g.back != nil {
				systemd.Send("WATCHDOG=1") // a start, or a stop, may take longer than WatchdogSec
			}
			if g.look(now); g.back != nil && !now.Before(g.stopBy) && !g.stopped {
				unix.Kill(-g.Pid, unix.SIGKILL)
			}
			g.answer(now)
		}
		if g.kept && g.asks == nil {
			stopListening()
			if systemd.Enabled() {
				systemd.Send(fmt.Sprintf("MAINPID=%d", g.Pid))
				return nil
			}
		}
	}
}

// takeRest reads what the new program said before it ended.
func (g *Guard) takeRest(heard <-chan string) {
	for {
		select {
		case text := <-heard:
			g.take(text, time.Now())
		case <-time.After(50 * time.Millisecond):
			return
		}
	}
}

// take reads one message of the new program: it notes what says how the trial goes, and returns the lines that are to be
// sent on to systemd.
func (g *Guard) take(text string, now time.Time) (tell string) {
	var on []string
	for line := range strings.SplitSeq(text, "\n") {
		ended, goesBack := strings.CutPrefix(line, back)
		switch {
		case strings.HasPrefix(line, worse):
			g.learn(line[len(worse):], now)
			continue
		case goesBack:
			e := &control.EndedTrial{}
			if json.Unmarshal([]byte(ended), e) != nil {
				e.Why = "it asked to go back"
			}
			g.fail(e.End, e.Why)
			g.stopBy = now.Add(stopPatience)
			continue
		case line == "READY=1":
			g.ready = true
		case line == "WATCHDOG=1":
			g.barked = now
		case strings.HasPrefix(line, "STATUS="):
			g.said = line[len("STATUS="):]
		}
		if g.passes(line) {
			on = append(on, line)
		}
	}
	return strings.Join(on, "\n")
}

// passes tells whether systemd is told what the new program tells: how it is, and not which process the service is.
func (g *Guard) passes(line string) bool {
	name, _, _ := strings.Cut(line, "=")
	switch name {
	case "READY", "STATUS", "WATCHDOG", "RELOADING", "MONOTONIC_USEC":
		return true
	case "STOPPING", "WATCHDOG_USEC":
		return g.stopped // else the service does not stop
	}
	return false
}

// look ends the trial of a program that hangs, or that nobody confirms.
func (g *Guard) look(now time.Time) {
	if g.kept || g.back != nil {
		return
	}
	switch quiet := now.Sub(g.barked); {
	case g.barked.IsZero() && now.Sub(g.began) > firstBark:
		g.fail(control.TrialStuck, fmt.Sprintf("its workers do not poll %v after it took over: %s", firstBark, g.said))
	case !g.barked.IsZero() && quiet > watchdog/2:
		g.fail(control.TrialStuck, fmt.Sprintf("its workers have not polled for %v: %s", watchdog/2, g.said))
	case !g.ready && now.Sub(g.began) > readyWithin:
		g.fail(control.TrialCrashed, fmt.Sprintf("it does not forward %v after it took over: %s", readyWithin, g.said))
	case now.After(g.Trial.Until.Add(grace)):
		g.fail(control.TrialTimeout, "nobody confirmed it in time")
	}
}

// fail is that the new program goes.
func (g *Guard) fail(end control.TrialEnd, why string) {
	if g.back == nil {
		g.back = &control.EndedTrial{Trial: g.Trial.Trial, Tried: g.Version, End: end, Why: strings.TrimSuffix(why, ": "), Time: time.Now().UTC()}
	}
}

// becomeOld makes this process the old program again. It returns only with an error.
func (g *Guard) becomeOld(systemd *notify.Notifier) error {
	systemd.Send("WATCHDOG=1", notify.Status("going back to "+g.Trial.Program))
	slog.Error("upgrade: the new program goes, the one before it comes back", "why", g.back.Why, "new", g.Version, "back", g.Trial.Program)
	told, err := json.Marshal(g.back)
	if err != nil {
		return err
	}
	adopt(false)
	return again(endedEnv + "=" + string(told))
}

// hear hands on what the new program tells, until it is gone.
func hear(fd int, heard chan<- string) {
	for {
		text := receive(fd)
		if text == gone {
			return
		}
		heard <- text
	}
}

// reap waits until the process pid has ended, and takes what else ends: as process 1 of a container the guard is everybody's parent.
func reap(pid int, ended chan<- unix.WaitStatus) {
	for {
		var status unix.WaitStatus
		switch child, err := unix.Wait4(-1, &status, 0, nil); {
		case child == pid:
			ended <- status
			return
		case err != nil && !errors.Is(err, unix.EINTR):
			ended <- status // it is not there, which cannot be
			return
		}
	}
}

func describe(s unix.WaitStatus) string {
	if s.Signaled() {
		return "signal: " + s.Signal().String()
	}
	return fmt.Sprintf("exit status %d", s.ExitStatus())
}

// asEnded is the error for a new program that has ended as it was asked to, or long after the trial.
func asEnded(s unix.WaitStatus) error {
	if s.Exited() && s.ExitStatus() == 0 {
		return nil
	}
	return fmt.Errorf("the program that took over ended: %s", describe(s))
}
