package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
)

func newRunCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "run --config FILE",
		Short: "Run the appliance",
		Long: `Run the appliance until SIGTERM or SIGINT, which drains it: open reports are
sent, mbufs return to their pools. SIGHUP reads the configuration again: watches,
events, report, int, node_model and the collectors' budgets change without a
packet lost; all else needs a restart, and a message says so.`,
		Example: "  intsink run --config /etc/intsink/intsink.hcl",
		Args:    cli.FlagsOnly("config"),
		RunE:    func(*cobra.Command, []string) error { return run(path) },
	}
	cmd.Flags().StringVar(&path, "config", "", "configuration file")
	cmd.MarkFlagRequired("config")
	return cmd
}

func run(path string) error {
	c, err := cli.LoadConfig(path)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	a, err := startOrStop(c, signals)
	if err != nil {
		return cli.Failed(fmt.Errorf("not started: %w", err))
	}
	if a == nil {
		return nil
	}
	slog.Info("running", "version", version, "workers", len(a.workers), "links", len(c.Links), "metrics", c.HTTP.Listen)
	for s := range signals {
		if s != syscall.SIGHUP {
			slog.Info("stopping", "signal", s.String())
			break
		}
		c = a.reload(c, path)
	}
	return drain(a.stop, signals)
}

// drain runs stop, which sends open reports and returns the mbufs. Another signal to
// stop meanwhile ends the wait: the process exits with 1, and what had not been sent
// is lost.
func drain(stop func() error, signals <-chan os.Signal) error {
	done := make(chan error, 1)
	go func() { done <- stop() }()
	for {
		select {
		case err := <-done:
			if err != nil {
				return cli.Failed(err)
			}
			return nil
		case s := <-signals:
			if s != syscall.SIGHUP {
				return cli.Failed(fmt.Errorf("ended at once by a second signal (%s): reports that had not left are lost", s))
			}
		}
	}
}

// startOrStop starts the appliance. A signal to stop meanwhile gives nil: what
// was started has stopped, or ends with the process.
func startOrStop(c *conf.Config, signals chan os.Signal) (*appliance, error) {
	type result struct {
		a   *appliance
		err error
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan result, 1)
	go func() {
		a, err := startAppliance(ctx, c)
		done <- result{a, err}
	}()
	var r result
	select {
	case r = <-done:
		return r.a, r.err
	case s := <-stopSignal(ctx, signals):
		slog.Info("stopping during the start", "signal", s.String())
	}
	cancel()
	select {
	case r = <-done:
		if r.a != nil {
			return nil, r.a.stop()
		}
	case <-time.After(startPatience):
	}
	return nil, nil
}

// startPatience is how long a step of the start may still take after a signal
// to stop. DPDK cannot be interrupted.
const startPatience = time.Second

// stopSignal passes on the first signal to stop, until ctx is done. A SIGHUP
// before it has nothing to read again: the configuration has just been read.
func stopSignal(ctx context.Context, signals <-chan os.Signal) <-chan os.Signal {
	stop := make(chan os.Signal, 1)
	go func() {
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

// reload adopts the configuration at path, or keeps old and says why.
func (a *appliance) reload(old *conf.Config, path string) *conf.Config {
	c, err := cli.LoadConfig(path)
	if err != nil {
		slog.Error("reload refused, the old configuration stays", "err", err)
		return old
	}
	if what := rules.NeedsRestart(old, c); what != "" {
		slog.Error("reload refused, the old configuration stays: this change needs a restart", "blocks", what)
		return old
	}
	next := rules.Of(c)
	for _, w := range a.workers {
		w.Reload(next)
	}
	slog.Info("reloaded", "watches", len(c.Watches))
	return c
}
