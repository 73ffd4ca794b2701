// Looks up the host names of collectors while the sink runs: at once, after a reload, each second while one
// has no address or refuses, else now and then.

package collectors

import (
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/conf"
)

// namesEvery is how often a name is looked up whose collector seems to take reports: one that is silent
// may have moved without a word.
const namesEvery = 30 * time.Second

// Change puts into force what next makes of the configuration in force; nil: it stays. A sink that stops changes
// nothing any more.
type Change func(next func(*conf.Config) *conf.Config)

// hostNames are those of collectors, looked up while the sink runs.
type hostNames struct {
	lookUp  func(host string) ([]netip.Addr, error)
	now     func() time.Time
	retrier *degraded.Retrier
	asked   atomic.Bool // by a reload

	mu     sync.Mutex           // one look at a time
	looked map[string]time.Time // by host
	lost   map[string]uint64    // report packets that a collector did not get
}

// StartNames begins to look names up: nothing waits for a name server. Collectors move by change.
func (s *Collectors) StartNames(change Change) (stop func()) {
	s.names = &hostNames{lookUp: conf.LookUp, now: time.Now, looked: map[string]time.Time{}, lost: map[string]uint64{}}
	s.names.retrier = degraded.Retry(degraded.Tick(), func() { s.LookUp(change) })
	s.names.retrier.Soon()
	return s.names.retrier.Stop
}

// Reload asks for all names.
func (s *Collectors) Reload(_, _ *conf.Config) {
	s.names.asked.Store(true)
	s.names.retrier.Soon()
}

// LookUp looks up the names that are due, all at once, and moves collectors to other addresses.
func (s *Collectors) LookUp(change Change) {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	var all []string
	for _, col := range s.Config().Collectors {
		all = append(all, col.Name)
	}
	s.Degraded.Keep("collector", all)
	found, errs := s.names.find(s.dueNames())
	if len(found)+len(errs) == 0 {
		return
	}
	change(func(c *conf.Config) *conf.Config {
		next, moved := c.WithAddresses(found)
		for i := range next.Collectors {
			col := &next.Collectors[i]
			if err := errs[col.Host]; err != nil && col.Address.IsValid() {
				s.Degraded.Set("collector", col.Name, fmt.Errorf("%w; reports go to %v as before", err, col.Address))
			} else if err != nil || found[col.Host] != nil || col.Host == "" {
				s.Degraded.Set("collector", col.Name, err)
			}
		}
		if len(moved) == 0 {
			return nil
		}
		slog.Info("names of collectors have other addresses", "collectors", strings.Join(moved, " "))
		s.Adopt(next)
		return next
	})
}

// dueNames are the host names to look up now.
func (s *Collectors) dueNames() map[string]bool {
	due, n, now := map[string]bool{}, s.names, s.names.now()
	asked := n.asked.Swap(false)
	for _, col := range *s.all.Load() {
		lost := uint64(0)
		for _, x := range col.exporter.Counters().Dropped {
			lost += x
		}
		if host := col.conf.Host; host != "" && (asked || lost != n.lost[col.conf.Name] || now.Sub(n.looked[host]) >= namesEvery) {
			due[host] = true
		}
		n.lost[col.conf.Name] = lost
	}
	for _, col := range s.Config().Collectors {
		if col.Host != "" && !col.Address.IsValid() {
			due[col.Host] = true
		}
	}
	return due
}

// find looks hosts up.
func (n *hostNames) find(hosts map[string]bool) (found map[string][]netip.Addr, errs map[string]error) {
	found, errs = map[string][]netip.Addr{}, map[string]error{}
	var wait sync.WaitGroup
	var mu sync.Mutex
	for host := range hosts {
		n.looked[host] = n.now()
		wait.Go(func() {
			all, err := n.lookUp(host)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs[host] = err
			} else {
				found[host] = all
			}
		})
	}
	wait.Wait()
	return found, errs
}
