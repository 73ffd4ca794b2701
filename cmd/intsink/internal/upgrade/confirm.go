// Confirmation: who confirms tells the guard; the program that is on trial, and what it has started, may not.

package upgrade

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/internal/trusted"
	"intsink/cmd/intsink/internal/control"
)

// How long a confirmation may take.
const (
	askPatience    = 5 * time.Second  // to come
	worsePatience  = 2 * time.Second  // for the new program to say what is worse
	answerPatience = 10 * time.Second // for whoever confirms
)

// confirm is what is said to confirm.
const confirm = "confirm"

// Confirmed is the answer to who confirms.
type Confirmed struct {
	Error string   `json:"error,omitempty"`
	Worse []string `json:"worse"` // than before the trial
}

// confirmation is somebody who has asked the guard.
type confirmation struct {
	net.Conn
	who string
	by  time.Time // when it is answered, whether or not the new program has said what is worse
}

func (c *confirmation) answer(a Confirmed) {
	c.SetWriteDeadline(time.Now().Add(time.Second))
	json.NewEncoder(c).Encode(&a) // who is gone by now finds it in the status
	c.Close()
}

// listen hands on who asks to confirm, until it is stopped. Without a socket nobody can.
func (g *Guard) listen() (asked <-chan *confirmation, stop func()) {
	all := make(chan *confirmation)
	l, err := control.ListenOn(g.Listen, g.Socket)
	if err != nil {
		return all, func() {}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go g.hearOut(c, all)
		}
	}()
	return all, sync.OnceFunc(func() { l.Close() })
}

// hearOut hands c on, where it may confirm.
func (g *Guard) hearOut(c net.Conn, asked chan<- *confirmation) {
	x := &confirmation{Conn: c, who: c.RemoteAddr().String()}
	c.SetDeadline(time.Now().Add(askPatience))
	line, err := bufio.NewReader(io.LimitReader(c, 64)).ReadString('\n')
	switch {
	case err != nil || strings.TrimSpace(line) != confirm:
		x.answer(Confirmed{Error: "intsink confirm asks here, and nobody else"})
	default:
		if why := mayConfirm(control.PeerOf(c)); why != nil {
			x.answer(Confirmed{Error: why.Error()})
			return
		}
		asked <- x
	}
}

// mayConfirm returns an error for whom a guard takes no confirmation from.
func mayConfirm(pid, uid int) error {
	if uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("uid %d may not confirm: root may, and the user that the sink runs as", uid)
	}
	if pid > 0 && slices.Contains(descendants(os.Getpid()), pid) {
		return errors.New("a program on trial does not confirm itself")
	}
	return nil
}

// confirm takes up that c confirms.
func (g *Guard) confirm(c *confirmation, now time.Time) {
	switch {
	case g.back != nil:
		c.answer(Confirmed{Error: "it goes back: " + g.back.Why})
	case g.kept || g.stopped:
		c.answer(Confirmed{Error: "there is nothing to confirm any more"})
	default:
		g.kept, g.asks = true, c
		c.by = now.Add(worsePatience)
		unix.Send(g.Fd, []byte(kept+c.who), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	}
}

// learn takes up what the new program says is worse, and answers who has confirmed.
func (g *Guard) learn(text string, _ time.Time) {
	if g.asks == nil {
		return
	}
	a := Confirmed{Worse: []string{}}
	json.Unmarshal([]byte(text), &a.Worse) // what is no JSON says nothing
	g.asks.answer(a)
	g.asks = nil
}

// answer answers who has confirmed a program that says nothing to it.
func (g *Guard) answer(now time.Time) {
	if g.asks != nil && now.After(g.asks.by) {
		g.learn("[]", now)
	}
}

// Confirm tells the guard of a sink whose socket is at path that its program stays, and returns which one was installed until now, and
// what is worse. Root believes the guard only which of its own programs it is.
func Confirm(path string) (*Program, []string, error) {
	c, err := net.Dial("unix", Socket(path))
	if err != nil {
		return nil, nil, fmt.Errorf("nobody watches over a trial any more: %w", err)
	}
	defer c.Close()
	pid, uid, err := trusted.Peer(c)
	if err == nil {
		err = trusted.MayAnswer(Socket(path), uid)
	}
	if err != nil {
		return nil, nil, err
	}
	p, err := Of(pid)
	if err != nil {
		return nil, nil, err
	}
	worse, err := ask(c)
	if err != nil {
		p.Close()
		return nil, nil, err
	}
	return p, worse, nil
}

// ask confirms over c.
func ask(c net.Conn) (worse []string, err error) {
	c.SetDeadline(time.Now().Add(answerPatience))
	if _, err := fmt.Fprintln(c, confirm); err != nil {
		return nil, err
	}
	var a Confirmed
	if err := json.NewDecoder(io.LimitReader(c, 64<<10)).Decode(&a); err != nil {
		return nil, fmt.Errorf("whoever watches over the trial does not answer: %w", err)
	}
	if a.Error != "" {
		return nil, errors.New(a.Error)
	}
	return a.Worse, nil
}
