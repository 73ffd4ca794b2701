// The view workers: flows, pauses, and the rings by which one worker hands packets to another.

package top

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/status"
)

func workersOf(s, _ *status.Status) *table {
	head := []string{"worker", ">lcore", ">flows", ">capacity", ">evicted", ">refused", ">longest pause", "pauses longer than"}
	handed := slices.ContainsFunc(s.Workers, func(w status.Worker) bool { return len(w.Rings) > 0 })
	if handed {
		head = append(head, ">by ring", ">ring full", "waiting in the ring")
	}
	t := newTable(head...)
	for _, w := range s.Workers {
		cells := []string{
			w.Name, fmt.Sprint(w.Lcore), count(float64(w.Flows)), count(float64(w.FlowCapacity)), count(float64(w.Evictions)), count(float64(w.Refusals)),
			time.Duration(w.LongestPollGapNs).String(), reasons(w.PollGapsOver),
		}
		if handed {
			cells = append(cells, ringCells(w.Rings)...)
		}
		t.add(cells...)
	}
	return t
}

// ringCells are what came to a worker by rings, what found them full, and how full each is.
func ringCells(rings []status.Ring) []string {
	if len(rings) == 0 {
		return []string{"-", "-", "it receives by itself"}
	}
	var received, dropped uint64
	var waiting []string
	for _, r := range rings {
		received, dropped = received+r.Received, dropped+r.Dropped
		waiting = append(waiting, fmt.Sprintf("%s %d of %d", r.Port, r.Waiting, r.Room))
	}
	return []string{count(float64(received)), count(float64(dropped)), strings.Join(waiting, ", ")}
}

// fullRings says of each ring that was full what it cost and what can be done about it.
func fullRings(s *status.Status) (lines []string) {
	for _, w := range s.Workers {
		for _, r := range w.Rings {
			if r.Dropped > 0 {
				lines = append(lines, fmt.Sprintf("worker %s did not keep up: %s packets of port %q found its ring full and were dropped (ring_full) since the start; "+
					"for short peaks raise rx_desc of the port, now %d; if it goes on, keep CPU %d free of other programs, watch or report less, "+
					"or leave it to the port to spread the flows (distribute = \"hardware\")", w.Name, count(float64(r.Dropped)), r.Port, r.Room, w.Lcore))
			}
		}
	}
	return lines
}
