// Registry: has the schema of messages registered, and puts its number in front of each message, as Confluent's readers want it.

package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"intsink/internal/plainfile"
)

// Registry is a schema registry with Confluent's API.
type Registry struct {
	URL                string
	User, PasswordFile string
	TLS                *TLS
	Schema             string // the file that describes messages, whose first message a record is
}

const (
	registryTimeout = 10 * time.Second
	registryAgain   = 5 * time.Second // between attempts
	registryAnswer  = 1 << 20         // bytes of an answer that are read: registries say the schema again
	// prefixBytes is what stands in front of a message: 0, the number of the schema, and 0 for its first message.
	prefixBytes = 6
)

// registration is the way to a schema's number.
type registration struct {
	r       *Registry
	subject string
	client  *http.Client
	prefix  atomic.Pointer[[prefixBytes]byte] // nil: there is no number yet
	why     atomic.Pointer[error]
	asking  atomic.Bool
	next    atomic.Int64 // Unix nanoseconds, before which it is not asked again
}

func newRegistration(c *Config) (*registration, error) {
	if c.Registry == nil {
		return nil, nil
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	if c.Registry.TLS != nil {
		t, err := c.Registry.TLS.Config()
		if err != nil {
			return nil, fmt.Errorf("registry: %w", err)
		}
		transport.TLSClientConfig = t
	}
	return &registration{r: c.Registry, subject: c.Topic + "-value", client: &http.Client{
		Transport: transport, Timeout: registryTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// ready reports whether messages can be sent. Where the number is not known, it has the registry asked, and does not wait.
func (g *registration) ready(now time.Time) bool {
	if g == nil || g.prefix.Load() != nil {
		return true
	}
	if now.UnixNano() < g.next.Load() || !g.asking.CompareAndSwap(false, true) {
		return false
	}
	go func() {
		defer g.asking.Store(false)
		if err := g.ask(context.Background()); err != nil {
			err = fmt.Errorf("registry %s: %w", g.r.URL, err)
			g.why.Store(&err)
			g.next.Store(time.Now().Add(registryAgain).UnixNano())
		}
	}()
	return false
}

// find asks for the schema's number; it is not known where the registry does not have the schema under the subject.
func (g *registration) find(ctx context.Context) (id uint32, known bool, err error) {
	id, err = g.post(ctx, g.path())
	if refused := (registryError{}); errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return 0, false, nil
	}
	return id, err == nil, err
}

func (g *registration) path() string { return "/subjects/" + url.PathEscape(g.subject) }

// ask finds the schema's number, and has it registered where the registry does not know it.
func (g *registration) ask(ctx context.Context) error {
	id, known, err := g.find(ctx)
	if err == nil && !known {
		id, err = g.post(ctx, g.path()+"/versions")
	}
	if err != nil {
		return err
	}
	prefix := new([prefixBytes]byte)
	binary.BigEndian.PutUint32(prefix[1:], id)
	g.prefix.Store(prefix)
	g.why.Store(nil)
	return nil
}

// registryError is an answer that is none of success.
type registryError struct {
	status int
	text   string
}

// Error says what to do about the usual ones.
func (e registryError) Error() string {
	todo := ""
	switch e.status {
	case http.StatusConflict:
		todo = "; the subject has another schema that this one does not follow on: take another topic, or delete the subject"
	case http.StatusUnauthorized, http.StatusForbidden:
		todo = "; see registry { user, password_file } and the rights on the subject"
	case http.StatusUnprocessableEntity:
		todo = "; a registry that takes PROTOBUF is needed"
	}
	return e.text + todo
}

// post sends the schema, and returns its number.
func (g *registration) post(ctx context.Context, path string) (uint32, error) {
	body, err := json.Marshal(map[string]string{"schemaType": "PROTOBUF", "schema": g.r.Schema})
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(g.r.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/vnd.schemaregistry.v1+json")
	if g.r.User != "" {
		password, err := plainfile.Read(g.r.PasswordFile)
		if err != nil {
			return 0, fmt.Errorf("password_file: %w", err)
		}
		req.SetBasicAuth(g.r.User, strings.TrimRight(string(password), "\r\n"))
	}
	resp, err := g.client.Do(req)
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return 0, u.Err
	}
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, registryAnswer))
	if err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK {
		return 0, registryError{resp.StatusCode, resp.Status + ": " + strings.TrimSpace(string(answer[:min(len(answer), 400)]))}
	}
	var known struct{ ID *uint32 }
	if err := json.Unmarshal(answer, &known); err != nil || known.ID == nil {
		return 0, errors.New("the answer has no id: is this the URL of a schema registry?")
	}
	return *known.ID, nil
}
