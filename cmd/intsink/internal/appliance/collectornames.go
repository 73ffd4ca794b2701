// Looks up the host names of collectors while the sink runs: at once, after a reload, each second while one
// has no address or refuses, else now and then.

package appliance

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

// collectorNames are the host names of collectors, looked up while the sink runs.
type collectorNames struct {
	lookUp  func(host string) ([]netip.Addr, error)
	now     func() time.Time
	retrier *degraded.Retrier
	asked   atomic.Bool // by a reload

	mu     sync.Mutex           // one look at a time
	looked map[string]time.Time // by host
	lost   map[string]uint64    // report packets that a collector did not get
}

// startNames begins to look names up: nothing waits for a name server.
func (a *Appliance) startNames(*conf.Config) (stop func(), err error) {
	a.names = &collectorNames{lookUp: conf.LookUp, now: time.Now, looked: map[string]time.Time{}, lost: map[string]uint64{}}
	a.names.retrier = degraded.Retry(degraded.Tick(), a.lookNamesUp)
	a.names.retrier.Soon()
	return a.names.retrier.Stop, nil
}

// again asks for all names.
func (n *collectorNames) again() {
	n.asked.Store(true)
	n.retrier.Soon()
}

// lookNamesUp looks up the names that are due, all at once, and moves collectors to other addresses.
func (a *Appliance) lookNamesUp() {
	a.names.mu.Lock()
	defer a.names.mu.Unlock()
	var all []string
	for _, col := range a.config.Load().Collectors {
		all = append(all, col.Name)
	}
	a.degraded.Keep("collector", all)
	found, errs := a.names.find(a.dueNames())
	if len(found)+len(errs) == 0 {
		return
	}
	a.inForce.Lock()
	defer a.inForce.Unlock()
	if a.stopping.Load() {
		return
	}
	c := a.config.Load()
	next, moved := c.WithAddresses(found)
	for i := range next.Collectors {
		col := &next.Collectors[i]
		if err := errs[col.Host]; err != nil && col.Address.IsValid() {
			a.degraded.Set("collector", col.Name, fmt.Errorf("%w; reports go to %v as before", err, col.Address))
		} else if err != nil || found[col.Host] != nil || col.Host == "" {
			a.degraded.Set("collector", col.Name, err)
		}
	}
	if len(moved) > 0 {
		slog.Info("names of collectors have other addresses", "collectors", strings.Join(moved, " "))
		a.collect(next)
		a.config.Store(next)
		a.handOver(next)
	}
}

// dueNames are the host names to look up now.
func (a *Appliance) dueNames() map[string]bool {
	due, n, now := map[string]bool{}, a.names, a.names.now()
	asked := n.asked.Swap(false)
	for _, col := range *a.exporters.collectors.Load() {
		lost := uint64(0)
		for _, x := range col.exporter.Counters().Dropped {
			lost += x
		}
		if host := col.conf.Host; host != "" && (asked || lost != n.lost[col.conf.Name] || now.Sub(n.looked[host]) >= namesEvery) {
			due[host] = true
		}
		n.lost[col.conf.Name] = lost
	}
	for _, col := range a.config.Load().Collectors {
		if col.Host != "" && !col.Address.IsValid() {
			due[col.Host] = true
		}
	}
	return due
}

// find looks hosts up.
func (n *collectorNames) find(hosts map[string]bool) (found map[string][]netip.Addr, errs map[string]error) {
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
