// answer: one answer, which a recorder fills, and which is written to each client.

package sharing

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// writePatience is how long a client may take to read an answer.
const writePatience = 30 * time.Second

// answer holds what next has answered, or will have.
type answer struct {
	request *http.Request      // of the first client, which goes on when that client leaves
	cancel  context.CancelFunc // of request

	// Answers.mu guards these.
	begun   time.Time // what the answer tells is not older
	waiting int       // clients
	passing bool      // only who waits already gets it

	made   chan struct{} // closed once the rest is there
	status int           // 0: the handler has panicked, there is no answer
	header http.Header
	body   bytes.Buffer
}

// newAnswer is an answer to r that nobody makes yet.
func newAnswer(r *http.Request) *answer {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	return &answer{request: r.Clone(ctx), cancel: cancel, made: make(chan struct{}), header: http.Header{}}
}

// make has next answer the request.
func (a *answer) make(next http.Handler) {
	defer a.cancel()
	defer func() {
		if why := recover(); why != nil { // who waits asks next itself, and net/http logs its panic
			slog.Error("http: no answer for several clients", "path", a.request.URL.Path, "err", why)
		}
	}()
	record := &recorder{answer: a}
	next.ServeHTTP(record, a.request)
	record.WriteHeader(http.StatusOK) // unless there is one
	a.status = record.status
}

// isMade tells whether the answer is there.
func (a *answer) isMade() bool {
	select {
	case <-a.made:
		return true
	default:
		return false
	}
}

// write sends the answer to one client.
func (a *answer) write(w http.ResponseWriter) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writePatience)) // a client that does not read holds it no longer
	maps.Copy(w.Header(), a.header)
	w.Header().Set("Age", strconv.Itoa(int(time.Since(a.begun)/time.Second)))
	w.WriteHeader(a.status)
	w.Write(a.body.Bytes()) // fails where nobody listens any more
}

// recorder is the http.ResponseWriter that fills an answer.
type recorder struct {
	*answer
	status int
}

// Header returns the header of the answer.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader sets the status, once.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// Write adds to the body.
func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}
