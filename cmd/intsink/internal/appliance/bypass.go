// bypass: the switch's watchdog, from before the start until the end of the process, and the lock of the switch.

package appliance

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/failopen"
	"intsink/conf"
	"intsink/dpdk/iface"
)

// bypass runs the command of the bypass switch. It waits for nothing that the sink does otherwise.
type bypass struct {
	failopen.Watchdog
	begin chan struct{}      // closed when the workers poll
	leave context.CancelFunc // puts the switch into bypass for good; nil: there is no watchdog
	left  chan struct{}      // closed when it is
}

// watch begins to watch over workers that poll once begin is closed. stuck says which of them do not. run runs commands.
func (b *bypass) watch(config func() *conf.Config, stuck func(after time.Duration) string, run func(context.Context, []string) error) {
	b.Config = func() *conf.Bypass { return &config().Bypass }
	b.Stuck, b.Run, b.Ours = stuck, run, func() bool { return ours(b.Config().Command) }
	b.begin, b.left = make(chan struct{}), make(chan struct{})
	var ctx context.Context
	ctx, b.leave = context.WithCancel(context.Background())
	go func() {
		defer close(b.left)
		b.Watch(ctx, b.begin)
	}()
}

// turn puts the switch into bypass for good, and waits until it is, or could not be turned within bypass.timeout.
func (b *bypass) turn() {
	if b.leave == nil {
		return
	}
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
