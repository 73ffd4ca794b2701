// Declares the flags of collect; runs its check, or a daemon between signals; limits its
// memory, from where on the garbage collector works harder.

package collect

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/hook"
	"intsink/cmd/internal/logging"
	"intsink/cmd/internal/shutdown"
	"intsink/conf"
	"intsink/conf/collector"
	"intsink/conf/schema"
)

// NewCommand makes the command; version is shown in metrics.
func NewCommand(version string) *cobra.Command {
	var path string
	var check, dump, strict bool
	cmd := &cobra.Command{
		Use:   "collect --config FILE",
		Short: "Receive telemetry reports into Kafka, ClickHouse, IPFIX, files and Prometheus",
		Long: `Receive telemetry reports of sinks, make one record of each, and deliver the
records to Kafka, ClickHouse, collectors of IPFIX and files, by way of a spool
on disk where one of them is away. docs/collect.md describes the file, docs/records.md the records.

Where a name does not resolve, an address is taken or not there yet, or a file or
folder is missing, all else works meanwhile, and it is tried again each second:
/readyz?verbose, the log and intcollect_degraded say what and since when.

SIGHUP reads the file again: outputs and allow lists change without a report
lost; all else needs a restart, and a message says so. SIGTERM closes the
sockets, gives the outputs 5 seconds, and puts the rest into the spool.

Exit codes: 0 success, 1 the command failed, 2 wrong usage.`,
		Example: `  intsink collect --config /etc/intsink/collect.hcl
  intsink collect --config collect.hcl --check
  intsink collect --config collect.hcl --check --dump
  intsink collect --config collect.hcl --check --strict`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dump && !check {
				return errors.New("--dump goes with --check")
			}
			if !check {
				return logging.End(cmd.Root().Name(), run(path, version, strict))
			}
			c, err := load(path)
			if err != nil {
				return err
			}
			if err := try(c, path, strict, cmd.ErrOrStderr()); err != nil {
				return cli.Failed(err)
			}
			if dump {
				cmd.OutOrStdout().Write(c.Dump())
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is valid\n", path)
			return nil
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "configuration file")
	cmd.Flags().BoolVar(&check, "check", false, "check the file, and those that it names, and end")
	cmd.Flags().BoolVar(&dump, "dump", false, "with --check: print the configuration with all defaults")
	cmd.Flags().BoolVar(&strict, "strict", false, "do not start while a name does not resolve, an address is not free, or a file or folder is missing; with --check, that is an error, not a warning")
	cmd.MarkFlagRequired("config")
	return cmd
}

// load reads the configuration. Diagnostics go to stderr; the error has been printed.
func load(path string) (*collector.Config, error) {
	c, diags := collector.Load(path)
	cli.Diagnose(os.Stderr, diags)
	return c, notValid(path, c, diags)
}

// loadLogged is load of a service, with the log that it has; nil: it is starting, and has that of the
// configuration.
func loadLogged(path string, log *slog.Logger) (*collector.Config, error) {
	c, diags := collector.Load(path)
	switch {
	case log != nil:
		logging.Diagnose(log, logging.Stderr(), diags)
	case c != nil:
		logging.Diagnose(logOf(c), logging.Stderr(), diags)
	default:
		diags.WriteTo(logging.Stderr())
	}
	return c, notValid(path, c, diags)
}

// notValid is the error of a configuration that could not be read, c is nil then.
func notValid(path string, c *collector.Config, diags *schema.Diagnostics) error {
	if c != nil {
		return nil
	}
	return cli.Failed(fmt.Errorf("%s is not valid: %s", path, cli.Count(diags.Count(schema.Error), "error")))
}

func logOf(c *collector.Config) *slog.Logger {
	return slog.New(logging.NewService(c.Log, logging.Stderr()))
}

// try finds errors in the files that the configuration names, and what of the world is not as it asks for: with strict an error,
// else a warning.
func try(c *collector.Config, path string, strict bool, stderr io.Writer) error {
	if _, err := decoderOptions(c); err != nil {
		return err
	}
	err := tryWorld(c, conf.LookUp)
	if err != nil && strict {
		return fmt.Errorf("%s: with --strict: %w", path, err)
	}
	if err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			fmt.Fprintf(stderr, "%s: warning: %s\n", path, line)
		}
	}
	return nil
}

// run collects until a signal comes that ends it.
func run(path, version string, strict bool) error {
	c, err := loadLogged(path, nil)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 64) // a stop waits behind as many reloads
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	hook.ReapOrphans()
	d, err := startOrStop(c, version, strict)
	if err != nil {
		return cli.Failed(fmt.Errorf("not started: %w", err))
	}
	if d == nil {
		return nil
	}
	d.untilStop(path, signals)
	return shutdown.Wait(d.stop, signals, stopPatience, "records that had not been written are lost, but for those in spools")
}

// stopPatience is how long a stop may take: outputs have 5 seconds of it, and may end one after the other where a reload
// is under way.
const stopPatience = 15 * time.Second

// untilStop reloads at each SIGHUP until another signal comes, which no reload holds up.
func (d *daemon) untilStop(path string, signals <-chan os.Signal) {
	reloads := make(chan struct{}, cap(signals))
	defer close(reloads)
	go func() {
		for range reloads {
			d.reload(path)
		}
	}()
	for s := range signals {
		if s != syscall.SIGHUP {
			d.log.Info("stopping", "signal", s.String())
			return
		}
		select {
		case reloads <- struct{}{}:
		default: // as many as that wait: the last of them reads what there is then
		}
	}
}

// startOrStop starts a daemon. A signal to stop meanwhile gives nil, and the start ends with the
// process: a spool on a slow disk takes minutes to read, and nothing is received before. A start
// that is done within startPatience after all is returned; run has the signal, too.
func startOrStop(c *collector.Config, version string, strict bool) (*daemon, error) {
	stop := make(chan os.Signal, 1) // of its own: what is taken from it is left in run's
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(stop)
	type result struct {
		d   *daemon
		err error
	}
	done := make(chan result, 1)
	go func() {
		d, err := start(c, version, strict)
		done <- result{d, err}
	}()
	select {
	case r := <-done:
		return r.d, r.err
	case <-stop:
	}
	select {
	case r := <-done:
		return r.d, r.err
	case <-time.After(startPatience):
		return nil, nil
	}
}

// startPatience is how long the start may still take after a signal to stop.
const startPatience = time.Second
