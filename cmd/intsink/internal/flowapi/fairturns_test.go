package flowapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// asking waits for its turn as a caller, and notes when it comes.
func asking(t *turns, who caller, name string, order *[]string, mu *sync.Mutex) {
	if t.take(context.WithValue(context.Background(), callerKey{}, who)) {
		mu.Lock()
		*order = append(*order, name)
		mu.Unlock()
		t.give()
	}
}

// TestNobodyWaitsForAFlood: the socket's question comes next however many wait, and small ones and lists take turns.
func TestNobodyWaitsForAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x turns
		var mu sync.Mutex
		var order, want []string
		x.take(t.Context()) // the question that is answered
		for i := range 6 {
			go asking(&x, caller{fmt.Sprint(i), list}, "list", &order, &mu)
		}
		synctest.Wait()
		for i := range 3 {
			go asking(&x, caller{fmt.Sprint(i), small}, "small", &order, &mu)
		}
		synctest.Wait()
		go asking(&x, caller{class: ofSocket}, "socket", &order, &mu)
		gone, leave := context.WithCancel(context.WithValue(context.Background(), callerKey{}, caller{class: ofSocket}))
		left := make(chan bool)
		go func() { left <- x.take(gone) }()
		synctest.Wait()
		leave()
		if <-left {
			t.Error("who has left gets a turn")
		}
		x.give()
		synctest.Wait()
		want = []string{"socket", "small", "list", "small", "list", "small", "list", "list", "list", "list"}
		if !slices.Equal(order, want) || x.busy {
			t.Errorf("%v, want %v; busy %v", order, want, x.busy)
		}
	})
}

// TestQuestionsOfOneAddress: it has four lists and eight small questions under way, others and the socket are not held up.
func TestQuestionsOfOneAddress(t *testing.T) {
	var x turns
	for _, c := range []struct {
		who  caller
		most int
	}{{caller{"a", list}, 4}, {caller{"a", small}, 8}, {caller{"b", list}, 4}, {caller{class: ofSocket}, 1000}} {
		for i := range c.most + 1 {
			err := x.enter(c.who)
			var refused apiError
			if i < c.most && err != nil || i == c.most && c.most < 1000 && (!errors.As(err, &refused) || refused.status != http.StatusTooManyRequests) {
				t.Errorf("%v, question %d: %v", c.who, i, err)
			}
		}
	}
	for range 2 {
		x.leave(caller{"a", list})
		if err := x.enter(caller{"a", list}); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		who  caller
		most int
	}{{caller{"a", list}, 4}, {caller{"a", small}, 8}, {caller{"b", list}, 4}} {
		for range c.most {
			x.leave(c.who)
		}
	}
	if len(x.open) != 0 {
		t.Errorf("%v are left", x.open)
	}
}
