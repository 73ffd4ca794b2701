package inforce

import (
	"slices"
	"testing"
	"time"

	"intsink/engine"
	"intsink/engine/enginetest/workertest"
)

// TestLateWorkersAreNamed: who reloads learns which workers do not go by the new rules yet.
func TestLateWorkersAreNamed(t *testing.T) {
	patience := adoptionPatience
	t.Cleanup(func() { adoptionPatience = patience })
	rules := &engine.Rules{}
	polls := workertest.New(t, nil)
	polls.Reload(rules)
	polls.Tick(time.Now().UnixNano())
	s := &Sink{Workers: []*engine.Worker{polls, workertest.New(t, nil)}}
	adoptionPatience = time.Millisecond
	if late := s.awaitAdoption(rules); !slices.Equal(late, []string{"w1"}) {
		t.Errorf("late: %q", late)
	}
	for _, c := range []struct {
		late          []string
		restart, want string
	}{
		{nil, "", ""},
		{nil, "a restart differs", "a restart differs"},
		{[]string{"w0", "w2"}, "", "workers that have not taken it over yet, as they do not poll: w0, w2"},
		{[]string{"w1"}, "a restart differs", "workers that have not taken it over yet, as they do not poll: w1; a restart differs"},
	} {
		if got := noteOf(c.late, c.restart); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
