// Request: declares and checks the JSON body of POST /api/v1/reload: files, a trial to be
// confirmed, its limits, dry run.

package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"intsink/cmd/internal/problem"
)

// Request is the body of POST /api/v1/reload. No body is the empty Request: the sink reads
// its own file again.
type Request struct {
	Name    string   `json:"name,omitempty"`    // of Files together, for diagnostics and the log: their path
	Files   []File   `json:"files,omitempty"`   // the configuration, in place of the sink's own file
	Confirm Duration `json:"confirm,omitempty"` // how long it is on trial; 0: it needs no confirmation
	Limit   *Limit   `json:"limit,omitempty"`   // ends the trial when it is exceeded

	Tolerate []problem.Kind `json:"tolerate,omitempty"` // problems that do not end the trial

	DryRun bool `json:"dry_run,omitempty"` // only answer what would change

	Rollback uint64 `json:"rollback,omitempty"` // the number of a configuration of the history, in place of Files; 0: none
	Comment  string `json:"comment,omitempty"`  // why, for the history

	Remote bool `json:"-"` // it came over TCP: it may not change what OfTheMachine lists
}

// File is one file of a configuration.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Limit holds limits that end the trial of a configuration when they are exceeded; 0: no limit.
type Limit struct {
	Reports uint64   `json:"reports,omitempty"` // per second, to all collectors together
	PollGap Duration `json:"poll_gap,omitempty"`
}

// Confirmation is the body of POST /api/v1/confirm.
type Confirmation struct {
	Back bool `json:"back,omitempty"` // go back now, instead of keeping what is on trial
}

// Trial is a configuration, or a program, that is not confirmed yet.
type Trial struct {
	Until  time.Time `json:"until"`
	BackTo uint64    `json:"back_to"` // generation whose configuration comes back; of a program: 0
	Limit  *Limit    `json:"limit,omitempty"`
	By     string    `json:"by"` // who asked for it

	Tolerate []problem.Kind `json:"tolerate,omitempty"`
	Program  string         `json:"program,omitempty"` // version of the program that comes back; "": a configuration is on trial
}

// How long a trial may be.
const (
	minTrial = time.Second
	maxTrial = 24 * time.Hour
)

// Check returns the first mistake in q, or nil.
func (q *Request) Check() error {
	c := time.Duration(q.Confirm)
	switch {
	case c != 0 && (c < minTrial || c > maxTrial):
		return fmt.Errorf("confirm %v: must be from %v to 24h", c, minTrial)
	case q.Limit != nil && c == 0:
		return errors.New("a limit goes with confirm: it ends a trial")
	case len(q.Tolerate) > 0 && c == 0:
		return errors.New("tolerate goes with confirm: it is about a trial")
	case q.Limit != nil && q.Limit.PollGap < 0:
		return errors.New("limit poll_gap: must not be negative")
	case q.Rollback != 0 && (len(q.Files) > 0 || q.Name != ""):
		return errors.New("rollback names a configuration of the history: no files and no name go with it")
	case len(q.Comment) > maxComment || !printable(q.Comment):
		return fmt.Errorf("comment: at most %d bytes that can be printed", maxComment)
	case q.DryRun && c != 0:
		return errors.New("dry_run changes nothing: there is nothing to confirm")
	}
	for _, k := range q.Tolerate {
		if !k.Known() {
			return fmt.Errorf("tolerate %.40q: there is %s", k, problem.KindNames(problem.Kinds))
		}
	}
	if len(q.Files) > maxFiles {
		return fmt.Errorf("%d files: at most %d make a configuration", len(q.Files), maxFiles)
	}
	if !printable(q.Name) {
		return fmt.Errorf("name %.100q: only characters that can be printed", q.Name)
	}
	for _, f := range q.Files {
		if !printable(f.Name) {
			return fmt.Errorf("file %.100q: only characters that can be printed in its name", f.Name)
		}
		if f.Name == "" {
			return errors.New("a file without a name: diagnostics call it by that")
		}
	}
	return nil
}

// maxComment is how long a comment is at most.
const maxComment = 200

// maxFiles bounds the files of one request: the time to read them grows faster than their number.
const maxFiles = 100

// printable tells whether a name can stand in a line of text as it is.
func printable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// decode reads the JSON of a body into q. An empty body leaves q as it is.
func decode(body io.Reader, q any) error {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	err := d.Decode(q)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more follows it")
		}
	}
	return err
}

// Duration is written as text: "10m".
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%.40q is no duration such as \"10m\"", text)
	}
	*d = Duration(v)
	return nil
}
