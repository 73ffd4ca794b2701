// tryWorld: what --check finds of the world around a collector that does not run here yet, or runs already.

package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"intsink/conf"
	"intsink/conf/collector"
)

// tryWorld says what a start would find degraded, as far as that shows without taking anything from a collector that runs: whether
// its port, file or spool is taken stays open.
func tryWorld(c *collector.Config, lookUp func(host string) ([]netip.Addr, error)) error {
	var errs []error
	fault := func(what string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
	}
	for i := range c.Listens {
		fault("listen "+c.Listens[i].Name, here(c.Listens[i].Address))
	}
	fault("http.listen", here(c.HTTP.Listen))
	if c.Spool != nil {
		fault("spool", writable(c.Spool.Directory))
	}
	for i := range c.Files {
		if f := &c.Files[i]; f.Path != "-" && !strings.HasPrefix(f.Path, "unix:") {
			fault("file "+f.Name, folderOf(f.Path))
		}
	}
	all := specs(c)
	ctx, cancel := context.WithTimeout(context.Background(), tryTime)
	defer cancel()
	receivers := make([]error, len(all))
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() { receivers[i] = tryOutput(ctx, &all[i]) })
	}
	wait.Wait()
	for i := range all {
		fault(all[i].name, receivers[i])
	}
	return errors.Join(append(errs, tryNames(all, lookUp)...)...)
}

// tryTime is how long --check waits for all receivers together.
const tryTime = 5 * time.Second

// tryOutput makes an output, and asks its receiver whether it would take records, where that can be asked.
func tryOutput(ctx context.Context, s *spec) error {
	o, err := s.make(func(string, ...any) {})
	if err != nil {
		return err
	}
	defer o.Close()
	if asks, ok := o.(interface{ Try(context.Context) error }); ok && !slices.ContainsFunc(s.hosts, func(host string) bool { _, err := conf.LookUp(host); return err != nil }) {
		return asks.Try(ctx)
	}
	return nil
}

// tryNames looks up the host names of outputs, all at once.
func tryNames(all []spec, lookUp func(host string) ([]netip.Addr, error)) []error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for i := range all {
		for _, host := range all[i].hosts {
			wait.Go(func() {
				if _, err := lookUp(host); err != nil {
					mu.Lock()
					defer mu.Unlock()
					errs = append(errs, fmt.Errorf("%s: %w", all[i].name, err))
				}
			})
		}
	}
	wait.Wait()
	return errs
}

// here tells whether an address is one of this machine; "" is none.
func here(address string) error {
	host, _, err := net.SplitHostPort(address)
	if address == "" || err != nil {
		return nil
	}
	conn, err := net.ListenPacket("udp", net.JoinHostPort(host, "0"))
	if err != nil {
		return fmt.Errorf("%s is no address of this machine (now): %w", host, err)
	}
	return conn.Close()
}

// folderOf tells whether a file can be written, or made.
func folderOf(path string) error {
	if _, err := os.Stat(path); err == nil {
		return access(path)
	}
	return access(filepath.Dir(path))
}

// writable tells whether a folder can be written, or made with those above it that are missing.
func writable(folder string) error {
	for {
		_, err := os.Stat(folder)
		up := filepath.Dir(folder)
		if !errors.Is(err, os.ErrNotExist) || up == folder {
			return access(folder)
		}
		folder = up
	}
}

// access tells whether this process may write there.
func access(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &os.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
