// bypassSwitch: the switch's watchdog, from before the start of a sink until the end of the process, and the lock of the switch.

package failopen

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"intsink/conf"
	"intsink/dpdk/iface"
)

// bypassSwitch runs the command of the bypass switch. It waits for nothing that the sink does otherwise.
type bypassSwitch struct {
	Watchdog
	begin chan struct{} // closed when the workers poll
	ctx   context.Context
	leave context.CancelFunc // puts the switch into bypass for good
	left  chan struct{}      // closed when it is
}

func newSwitch(config func() *conf.Config, run func(context.Context, []string) error) *bypassSwitch {
	b := &bypassSwitch{begin: make(chan struct{}), left: make(chan struct{})}
	b.Config = func() *conf.Bypass { return &config().Bypass }
	b.Watchdog.Run, b.Ours = run, func() bool { return ours(b.Config().Command) }
	b.ctx, b.leave = context.WithCancel(context.Background())
	return b
}

// watch begins to watch, over workers once b.begin is closed.
func (b *bypassSwitch) watch() {
	go func() {
		defer close(b.left)
		b.Watch(b.ctx, b.begin)
	}()
}

// turn puts the switch into bypass for good.
func (b *bypassSwitch) turn() {
	b.leave()
	select {
	case <-b.left:
	case <-time.After(b.Config().Timeout + time.Second):
	}
}

// ours tells whether no other process watches over the switch that command turns, and keeps others from taking it as theirs.
func ours(command []string) bool {
	if len(command) == 0 {
		return true
	}
	sum := sha256.Sum256([]byte(strings.Join(command, "\x00")))
	_, holder, _ := iface.Claim(fmt.Sprintf("bypass/%x", sum[:8]))
	return holder == ""
}
