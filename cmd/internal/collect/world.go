// world: what of the configuration does not work because of the world around the collector. It is tried again each second, each kind
// of it by itself: what hangs holds nothing else up.

package collect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/conf"
	"intsink/exporters/collect"
)

// world has the outputs, and what is known of what they need.
type world struct {
	lookUp   func(host string) ([]netip.Addr, error)
	retriers []*degraded.Retrier

	mu     sync.Mutex
	specs  []spec
	faults map[need]error   // of what was tried; nil: it is there
	said   map[string]error // the last error that an output's log had
}

// need is what an output cannot be without: a host name, or "": all that it takes to make it.
type need struct{ output, host string }

func newWorld() *world {
	return &world{lookUp: conf.LookUp, faults: map[need]error{}, said: map[string]error{}}
}

// tryAgain begins to try again what does not work.
func (d *daemon) tryAgain() {
	for _, try := range []func(){d.openAddresses, d.attachSpool, d.makeMissing, d.lookNamesUp, d.tellDegraded} {
		r := degraded.Retry(degraded.Tick(), try)
		d.world.retriers = append(d.world.retriers, r)
		r.Soon()
	}
}

// stop ends the tries; one that is under way finds that the daemon stops.
func (w *world) stop() {
	for _, r := range w.retriers {
		r.Stop()
	}
}

// openAddresses opens those that are not open.
func (d *daemon) openAddresses() {
	d.collector.OpenListens()
	d.openHTTP()
}

// attachSpool opens the spool's folder. Where that fails, the spool tells why.
func (d *daemon) attachSpool() { d.collector.AttachSpool() }

// absent stands in for an output that cannot be made. It takes nothing: its records wait in the log.
type absent struct {
	format collect.Format
	why    error
}

func (a absent) Format() collect.Format { return a.format }
func (absent) Room(int, int) bool       { return false }
func (absent) Send(*collect.Delivery)   { panic("a delivery for an output without room") }
func (absent) Flush(context.Context)    {}
func (absent) Close() error             { return nil }
func (a absent) Away() error            { return a.why }

// makeOutput makes an output, and notes why it cannot be made.
func (d *daemon) makeOutput(s *spec) (collect.Output, error) {
	out, err := s.make(d.saying(s.name))
	d.world.note(need{s.name, ""}, err)
	return out, err
}

// saying is the log of an output.
func (d *daemon) saying(output string) func(msg string, args ...any) {
	return func(msg string, args ...any) {
		for _, a := range args {
			if err, ok := a.(error); ok {
				d.world.mu.Lock()
				d.world.said[output] = err
				d.world.mu.Unlock()
			}
		}
		d.limited.Say(msg, append([]any{"output", output}, args...)...)
	}
}

// outputs are those of the configuration in force.
func (w *world) outputs() []spec {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.specs
}

// use makes those the outputs, and forgets what others need.
func (w *world) use(all []spec) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.specs = all
	needed := map[need]bool{}
	for i := range all {
		needed[need{all[i].name, ""}] = true
		for _, host := range all[i].hosts {
			needed[need{all[i].name, host}] = true
		}
	}
	maps.DeleteFunc(w.faults, func(n need, _ error) bool { return !needed[n] })
	maps.DeleteFunc(w.said, func(output string, _ error) bool { return !needed[need{output, ""}] })
}

func (w *world) note(n need, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults[n] = err
}

// lacks reports whether a need was not met when it was tried last; untried is what it says of one that was not.
func (w *world) lacks(n need, untried bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	err, tried := w.faults[n]
	return err != nil || !tried && untried
}

// makeMissing makes the outputs that could not be made.
func (d *daemon) makeMissing() {
	for _, s := range d.world.outputs() {
		if !d.world.lacks(need{s.name, ""}, false) {
			continue
		}
		if out, err := d.makeOutput(&s); err == nil && !d.adoptOutput(&s, out) {
			out.Close()
		}
	}
}

// adoptOutput gives an output that is made at last its records, unless a reload has another one by now.
func (d *daemon) adoptOutput(made *spec, out collect.Output) (adopted bool) {
	d.changing.Lock()
	defer d.changing.Unlock()
	var all []collect.NamedOutput
	for _, s := range d.world.outputs() {
		o := collect.NamedOutput{Name: s.name}
		if s.name == made.name && s.same(made) {
			o.Output, adopted = out, true
		}
		all = append(all, o)
	}
	if adopted = adopted && !d.stopping.Load(); adopted {
		d.collector.SetOutputs(all)
	}
	return adopted
}

// lookNamesUp looks up the host names that had no address so far, all at once. An output looks them up for itself when it connects:
// this is to tell before.
func (d *daemon) lookNamesUp() {
	var wait sync.WaitGroup
	for _, s := range d.world.outputs() {
		for _, host := range s.hosts {
			if d.world.lacks(need{s.name, host}, true) {
				wait.Go(func() {
					_, err := d.world.lookUp(host)
					d.world.note(need{s.name, host}, err)
				})
			}
		}
	}
	wait.Wait()
}

// tellDegraded takes down what does not work now.
func (d *daemon) tellDegraded() {
	s := d.collector.Snapshot()
	for i := range s.Listens {
		d.parts.Set("listen", s.Listens[i].Name, s.Listens[i].Why)
	}
	var names []string
	for i := range s.Outputs {
		names = append(names, s.Outputs[i].Name)
		d.parts.Set("output", s.Outputs[i].Name, d.world.fault(&s.Outputs[i]))
	}
	d.parts.Keep("output", names)
	d.dropping.note(s.Outputs, time.Now())
	for peer, why := range d.collector.PeerFaults() {
		d.parts.Set("peer", peer, why)
	}
	if d.spool != nil {
		d.parts.Set("spool", d.began.Spool.Directory, d.spool.Failing())
	}
}

// fault says what is wrong with an output; nil: nothing is.
func (w *world) fault(o *collect.OutputSnapshot) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	why := o.Why
	if said := w.said[o.Name]; why == collect.ErrStuck && said != nil {
		why = fmt.Errorf("%w; its log says: %w", why, said)
	}
	var names []error
	for n, err := range w.faults {
		if n.output != o.Name || err == nil {
			continue
		}
		if n.host == "" {
			return err // with files of another configuration, the one before goes on
		}
		names = append(names, err)
	}
	slices.SortFunc(names, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(append(names, why)...)
}

// broken is what is degraded once all has been tried, for who does not start then (--strict).
func (d *daemon) broken() error {
	d.lookNamesUp()
	d.tellDegraded()
	return d.parts.Err()
}
