// Play: sends the network's packets in real time.

package scene

import (
	"context"
	"time"
)

// Play sends the packets of the network until ctx is done. After a pause of the whole machine it goes on from there: what was
// not sent meanwhile is left out.
func (n *Network) Play(ctx context.Context, send func([]byte)) error {
	next := time.Now()
	calm := next.Add(Hurry)
	for step := 0; ctx.Err() == nil; step++ {
		if err := n.Step(step, time.Now(), send); err != nil {
			return err
		}
		pause := Pause
		if next.Before(calm) {
			pause /= 4
		}
		next = next.Add(pause)
		late := time.Until(next)
		if late < -100*time.Millisecond {
			next = time.Now()
		}
		time.Sleep(late)
	}
	return nil
}
