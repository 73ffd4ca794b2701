// Keeps the rules over a restart, in a file of the state folder.

package mitigation

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"intsink/cmd/internal/statefile"
	"intsink/engine/aside/mitigate"
)

// What the file is called, which is also what it is.
const (
	fileName    = "mitigations"
	fileVersion = 1
)

// kept is the body of the file.
type kept struct {
	LastID uint64     `json:"last_id"`
	Rules  []keptRule `json:"rules"` // in order
}

// keptRule is a rule as the API shows it. Its counters begin anew after a restart.
type keptRule struct {
	Rule
	Attack map[string]string `json:"attack,omitempty"` // attackOf makes the attack of it
}

// Keep takes up the rules that the state folder dir has, before workers run, and writes each change there until Close.
// Without a folder nothing is kept. A file that cannot be used is a line in the log.
func (s *Store) Keep(dir string) {
	if dir == "" {
		return
	}
	path := filepath.Join(dir, fileName)
	if err := s.load(path); err != nil {
		slog.Warn("mitigation: rules of before the restart do not hold", "err", err)
	}
	s.keeper = statefile.Keep("rules of mitigation", func() error { return s.save(path) })
}

func (s *Store) save(path string) error {
	s.mu.Lock()
	k := kept{LastID: s.lastID}
	for _, e := range s.rules {
		k.Rules = append(k.Rules, keptRule{s.show(e), e.attack.fields()})
	}
	s.mu.Unlock()
	body, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return statefile.Write(path, fileName, fileVersion, body)
}

func (s *Store) load(path string) error {
	body, err := statefile.Read(path, fileName, fileVersion)
	if err != nil || body == nil {
		return err
	}
	var k kept
	if err := json.Unmarshal(body, &k); err != nil {
		return statefile.SetAside(path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID = k.LastID
	ended := s.takeUp(k.Rules)
	switch {
	case len(s.rules) > 0:
		slog.Warn("mitigation: rules of before the restart hold again", "rules", len(s.rules), "ended_meanwhile", ended, "see", "intsink mitigate list")
	case len(k.Rules) > ended:
		return fmt.Errorf("%s: left out: %d: %w", path, len(k.Rules)-ended, errNoLink)
	}
	return nil
}

// takeUp adds rules of before for the rest of their time, and counts those that have ended. The time that the sink did not
// run counts; a clock that was set back makes no rule last longer than it was to. The caller holds s.mu.
func (s *Store) takeUp(rules []keptRule) (ended int) {
	now := s.clock()
	for i := range rules {
		r := &rules[i]
		since := func(t time.Time) int64 { return t.UnixNano() - s.wall() - now }
		left := min(since(r.Expires), int64(r.TTL))
		if left <= 0 {
			ended++
			continue
		}
		if len(s.links) == 0 || len(s.rules) >= mitigate.MaxRules {
			continue
		}
		e, err := r.entry(now, now+left, len(s.workers))
		if err != nil {
			slog.Warn("mitigation: a rule of before the restart is left out", "id", r.ID, "comment", r.Comment, "err", err)
			continue
		}
		e.created = now + min(since(r.Created), 0)
		s.lastID = max(s.lastID, r.ID)
		s.rules = append(s.rules, e)
	}
	s.offer()
	s.arm(now)
	return ended
}

// entry makes the rule anew, which lasts until end.
func (r *keptRule) entry(now, end int64, workers int) (*entry, error) {
	m, action, err := r.compile()
	if err != nil {
		return nil, err
	}
	var a *attack
	if r.Attack != nil {
		if a, err = attackOf(r.Attack); err != nil {
			return nil, err
		}
	}
	return &entry{rule: mitigate.NewRule(r.ID, m, action, r.Rate, now, end, workers), request: r.Request, by: r.By, attack: a}, nil
}
