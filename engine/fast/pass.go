// Go twin of pass.c: counts and strips packets that give no event, defers the others.

package fast

import "intsink/dpdk/mbuf"

// The twins of pass.c.

// passOne passes packet j, where it is as its flow's last one was.
func (s *State) passOne(j uint32) (passed bool) {
	w, at := s.Flows[j], s.Template[j]
	if at == None || s.look != 0 || s.keep&keepAll != 0 {
		s.look = 0
		return false
	}
	t, m := &s.templates[at], s.vec[s.At[j]&(mbuf.MaxBurst-1)]
	f, size := m.Bytes(), uint16(m.PktLen()-int(t.removed))
	told := samePath
	if s.keep != 0 || !s.settledOne(j, t, f, size) {
		told = s.general(j, f, size)
	}
	if told == toDefer {
		return false
	}
	w.Count(size)
	if told == samePath {
		w.PathSeen = s.tick
	}
	if told != noWatch && s.view.Policies[w.Watch].TakeSample(s.Hashes[j]) {
		s.Samples |= 1 << j
	} else if s.strip != 0 {
		s.stripOne(m, t)
	}
	return true
}

// settledOne tells whether packet j, of a flow that is settled, gives no event. What C does in
// pass_with_extra is left to the general path here, which tells the same.
func (s *State) settledOne(j uint32, t *Template, f []byte, size uint16) bool {
	w := s.Flows[j]
	if uint32(w.Watch) >= s.policies {
		return false
	}
	p := &s.view.Policies[w.Watch]
	return !p.Scaled && uint32(w.Generation) == s.generation && w.Settled(p.Flags, p.Mask) && !w.Held() &&
		t.hops == uint32(w.PathHops) && ^(s.refresh-w.NextRefresh)&p.Refresh == 0 &&
		t.noEvent(s, p, w, f) && !w.Full(size)
}

// passGo is fast_pass.
func passGo(s *State) {
	s.deferred, s.Samples = 0, 0
	for j := range s.ints {
		w := s.Flows[j]
		if w != nil && s.passOne(j) {
			continue
		}
		if w != nil {
			w.Hold()
		}
		s.deferredAt[s.deferred] = uint8(j)
		s.deferred++
	}
}
