// Run: the command run between its signals: SIGTERM, SIGHUP, a second signal, a start that
// is interrupted.

package appliance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/hook"
	"intsink/cmd/internal/logging"
	"intsink/cmd/internal/notify"
	"intsink/cmd/internal/shutdown"
	"intsink/cmd/internal/statefile"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/cmd/intsink/internal/upgrade"
	"intsink/conf"
)

// Run runs the appliance with the configuration at path, beginning in mode ("": as failopen.Begin says), until SIGTERM or SIGINT; SIGHUP
// reads the configuration again. With strict, it does not start while anything is degraded.
func Run(path, version, mode string, strict bool) error {
	return logging.End("intsink", run(path, version, mode, strict))
}

func run(path, version, mode string, strict bool) error {
	log := logging.Stderr()
	upgrade.KeepName(os.Getenv)
	if g := upgrade.GuardOf(os.Getenv); g != nil {
		if c, _ := conf.LoadWithoutHosts(path); c != nil {
			slog.SetDefault(slog.New(logging.New(c.Log, log)))
		}
		return g.Run()
	}
	c, diags := conf.LoadToRun(path)
	if c == nil {
		diags.WriteTo(log)
		return notStarted(cli.NotValid(path, diags))
	}
	slog.SetDefault(slog.New(logging.New(c.Log, log)))
	logging.Diagnose(slog.Default(), log, diags)
	signals := make(chan os.Signal, 64) // a stop waits behind as many reloads
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	hook.ReapOrphans()
	turn, err := upgrade.MyTurn(os.Getenv)
	if err != nil {
		return notStarted(err)
	}
	asks := func() (failopen.Asked, error) { return failopen.Begin(mode, statefile.Dir(os.Getenv), time.Now()) }
	state := claimState(turn)
	new, err := newAppliance(c, path, diags.SHA256, version, asks, turn)
	if err != nil {
		return notStarted(err)
	}
	new.state = state.tell(new.env.Degraded)
	defer new.modes.Leave() // also after a start that failed, and where a second signal ends a stop
	a, err := startOrStop(signals, func(ctx context.Context) (*Appliance, error) {
		a, err := new.start(ctx)
		if err == nil && strict {
			return a.orNothing()
		}
		return a, err
	})
	if err != nil {
		return notStarted(cli.Failed(fmt.Errorf("not started: %w", err)))
	}
	if a == nil {
		return nil
	}
	slog.Info("running", "version", version, "config", path, "node", c.Node.ID, "lcores", fmt.Sprint(c.DPDK.Lcores), "hugepages", c.DPDK.Hugepages,
		"links", len(c.Links), "taps", len(c.Taps), "watches", len(c.Watches), "collectors", len(c.Collectors), "http", c.HTTP.Listen)
	a.untilStop(signals)
	s := a.force.Successor()
	stop := a.Stop
	if s != nil {
		stop = a.stopFor
	}
	err = shutdown.Wait(stop, signals, c.Bypass.Timeout+stopPatience, "reports that had not left are lost")
	if s != nil && err == nil {
		err = s.HandOver()
	}
	return err
}

// stopPatience is how long a stop may take besides turning the bypass switch.
const stopPatience = 10 * time.Second

// untilStop reloads at each SIGHUP until another signal comes, which no reload holds up.
func (a *Appliance) untilStop(signals <-chan os.Signal) {
	reloads := make(chan struct{}, cap(signals))
	defer close(reloads)
	go func() {
		for range reloads {
			a.force.Reload("SIGHUP", &control.Request{})
		}
	}()
	for {
		select {
		case <-a.force.Ends():
			return
		case s := <-signals:
			if s != syscall.SIGHUP {
				slog.Info("stopping", "signal", s.String())
				a.force.Dismiss()
				return
			}
		}
		select {
		case reloads <- struct{}{}:
		default: // as many as that wait: the last of them reads what there is then
		}
	}
}

// notStarted tells systemd why, in place of what a start that failed told last.
func notStarted(err error) error {
	notify.New(os.Getenv).Send(notify.Status(err.Error()))
	return err
}

// orNothing is the appliance where nothing is degraded, else it is stopped, and the error says what is.
func (a *Appliance) orNothing() (*Appliance, error) {
	a.collectors.LookUp(a.force.Change)
	if err := a.env.Degraded.Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("with --strict: %w", err), a.stop())
	}
	return a, nil
}

// startOrStop starts the appliance by start. A signal to stop meanwhile gives nil: what
// was started has stopped, or ends with the process.
func startOrStop(signals chan os.Signal, start func(context.Context) (*Appliance, error)) (*Appliance, error) {
	type result struct {
		a   *Appliance
		err error
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan result, 1)
	go func() {
		a, err := start(ctx)
		done <- result{a, err}
	}()
	var r result
	stop := stopSignal(ctx, signals)
	select {
	case r = <-done:
		cancel()
		if s, ok := <-stop; ok { // it came in the instant in which the start was done: Run finds it
			go func() { signals <- s }() // waits where others have filled signals meanwhile
		}
		return r.a, r.err
	case s := <-stop:
		slog.Info("stopping during the start", "signal", s.String())
	}
	cancel()
	select {
	case r = <-done:
		if r.a != nil { // it was just done: Run stops it
			go func() { signals <- syscall.SIGTERM }()
		}
		return r.a, nil
	case <-time.After(startPatience):
	}
	return nil, nil
}

// startPatience is how long a step of the start may still take after a signal
// to stop. DPDK cannot be interrupted.
const startPatience = time.Second

// stopSignal passes on the first signal to stop, until ctx is done: then it takes no more of
// signals and closes its channel. A SIGHUP before it has nothing to read again: the configuration
// has just been read.
func stopSignal(ctx context.Context, signals <-chan os.Signal) <-chan os.Signal {
	stop := make(chan os.Signal, 1)
	go func() {
		defer close(stop)
		for {
			select {
			case s := <-signals:
				if s != syscall.SIGHUP {
					stop <- s
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return stop
}
