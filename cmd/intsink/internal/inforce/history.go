// The history of configurations: what reloads and the start put into it, and the way back.

package inforce

import (
	"fmt"

	"intsink/cmd/intsink/internal/confighistory"
	"intsink/cmd/intsink/internal/control"
	"intsink/conf"
)

// rollBack fills in the files of the configuration that q goes back to; without one it leaves q as it is.
func (s *Sink) rollBack(q *control.Request) error {
	if q.Rollback == 0 {
		return nil
	}
	e, err := s.History.Entry(q.Rollback)
	if err != nil {
		return err
	}
	q.Files, q.Name = e.Files, fmt.Sprintf("configuration %d of the history", e.Number)
	q.Remote = q.Remote || e.Remote // what came over TCP has no more rights because somebody goes back to it
	return nil
}

// remember puts what became of a reload into the history.
func (s *Sink) remember(r *control.Result, q *control.Request) {
	e := confighistory.Entry{Time: r.Time, By: r.By, Comment: q.Comment, Config: r.Config, SHA256: r.SHA256, Generation: r.Generation, Result: confighistory.InForce, Remote: q.Remote, Files: q.Files}
	switch {
	case !r.OK:
		e.Generation, e.Result = 0, "refused: "+r.Error
	case r.Trial != nil:
		e.Result = confighistory.OnTrial
	}
	if len(e.Files) == 0 {
		e.Files = s.ownFiles(e.SHA256)
	}
	if e.SHA256 != "" {
		s.History.Add(e)
	}
}

// ownFiles are the sink's own files, where they are still those with the hash sum.
func (s *Sink) ownFiles(sum string) (files []control.File) {
	sources, err := conf.ReadSources(s.path)
	if err != nil || conf.SHA256(s.path) != sum {
		return nil
	}
	for _, f := range sources {
		files = append(files, control.File{Name: f.Name, Text: string(f.Text)})
	}
	return files
}

// RememberStart puts the configuration of the start into the history.
func (s *Sink) RememberStart() {
	_, good := s.State.Last()
	s.remember(&good, &control.Request{})
}
