package truth

import (
	"container/heap"
	"fmt"
	"time"
)

// How late reports that a timer causes may come.
const (
	flowEndLate = 5 * time.Second
	lossLate    = 2 * time.Second
	earlySlack  = 3 * time.Millisecond

	closingSilence = 2 * time.Second
)

// IdleTimeout ends a flow.
const IdleTimeout = 30 * time.Second

// end returns from when on the flow is over.
func (f *flowState) end() int64 {
	if f.closing {
		return f.last + int64(closingSilence)
	}
	return f.last + int64(IdleTimeout)
}

// Timer returns the event of a report without a packet; if there should be no such report, fault
// says why.
func (m *Model) Timer(now int64, key string) (event, fault string) {
	f := m.flows[key]
	if f == nil {
		return "", "of a flow that is not known"
	}
	p := &m.policies[f.Watch]
	m.expireHoles(p, f, now+int64(earlySlack))
	if due, is := f.loss.lossDue(p); is && due-int64(earlySlack) <= now {
		f.loss.summarised(now)
		m.wasReported(f, p, now, []string{Loss})
		return Loss, ""
	}
	if m.wants(p, FlowEnd) && f.end()-int64(earlySlack) <= now {
		if !m.newFlows.take(now, p.NewFlowRate) {
			m.emptied(p)
			return FlowEnd, "flow_end beyond the rate of new_flow"
		}
		m.emptied(p)
		delete(m.flows, key)
		return FlowEnd, ""
	}
	return "", fmt.Sprintf("neither a loss nor the flow's end is due: last packet %.6f s ago", float64(now-f.last)/1e9)
}

// Overdue removes flows that are over, and returns the reports without a packet that should have
// come by now.
func (m *Model) Overdue(now int64) (missing []Missing) {
	for len(m.due) > 0 && m.due[0].at < now {
		d := m.due[0]
		heap.Pop(&m.due)
		f := m.flows[d.key]
		if f == nil {
			continue
		}
		p := &m.policies[f.Watch]
		m.expireHoles(p, f, now)
		if due, is := f.loss.lossDue(p); is {
			if due+int64(lossLate) < now {
				missing = append(missing, Missing{Loss, d.key, due})
				f.loss.summarised(now)
			} else {
				m.due.add(due+int64(lossLate), d.key)
			}
		} else if len(f.loss.holes) > 0 {
			m.due.add(now+int64(p.LossTimeout), d.key)
		}
		end := f.end()
		switch gone := end + int64(flowEndLate); {
		case gone >= now:
			m.due.add(gone, d.key)
		case m.emptyTo >= end: // the bucket may have been empty when its end was found
			delete(m.flows, d.key)
		default:
			if m.wants(p, FlowEnd) {
				missing = append(missing, Missing{FlowEnd, d.key, end})
			}
			delete(m.flows, d.key)
		}
	}
	return missing
}

// Missing is a report without a packet that did not come.
type Missing struct {
	Event, Key string
	Due        int64
}

// dueList is a heap of flows by the time at which to look at them.
type dueList []dueEntry

type dueEntry struct {
	at  int64
	key string
}

func (l *dueList) add(at int64, key string) { heap.Push(l, dueEntry{at, key}) }

// Len is for package heap, as are the rest.
func (l dueList) Len() int { return len(l) }

// Less is for package heap.
func (l dueList) Less(i, j int) bool { return l[i].at < l[j].at }

// Swap is for package heap.
func (l dueList) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

// Push is for package heap.
func (l *dueList) Push(x any) { *l = append(*l, x.(dueEntry)) }

// Pop is for package heap.
func (l *dueList) Pop() any {
	last := len(*l) - 1
	x := (*l)[last]
	*l = (*l)[:last]
	return x
}
