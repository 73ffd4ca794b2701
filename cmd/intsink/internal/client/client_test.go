package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

func TestWhereASinkListens(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:9465": "http://127.0.0.1:9465", ":9465": "http://127.0.0.1:9465", "0.0.0.0:1": "http://127.0.0.1:1",
		"[::]:9465": "http://[::1]:9465", "[2001:db8::1]:80": "http://[2001:db8::1]:80", "sink.example:80": "http://sink.example:80",
	} {
		t.Run(listen, func(t *testing.T) {
			if got := listenURL(listen); got != want {
				t.Errorf("%s is reached at %s, want %s", listen, got, want)
			}
		})
	}
}

// TestErrorsSayWhatToDo: nobody listens, somebody else does, and the sink's own errors.
func TestErrorsSayWhatToDo(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte(`{"error": "worker w0 does not answer"}`))
	}))
	defer sink.Close()
	for name, c := range map[string]struct{ url, want string }{
		"nobody": {"http://127.0.0.1:1", "start it, or say where its http.listen is with --url or --config"},
		"other":  {other.URL, "no intsink of this version listens there"},
		"sink":   {sink.URL, "worker w0 does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := (&Options{URL: c.url}).Open()
			if err != nil {
				t.Fatal(err)
			}
			var v any
			if err := s.Read(context.Background(), "/api/v1/status", &v); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := (&Options{URL: "9465"}).Open(); err == nil || !strings.Contains(err.Error(), "must be such as http://127.0.0.1:9465") {
		t.Errorf("a bad URL: %v", err)
	}
}

// TestNobodyOnTheInstalledSocket: who starts the sink by hand learns why there is none.
func TestNobodyOnTheInstalledSocket(t *testing.T) {
	for path, want := range map[string]bool{installedSocket: true, "/nowhere/api.sock": false} {
		t.Run(path, func(t *testing.T) {
			err := unixSink(path, false).unreachable(errors.New("no such file"))
			if got := strings.Contains(err.Error(), `http { socket = "/path" }`); got != want || !strings.Contains(err.Error(), "--socket or --config") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestWhoMayNotAsk: a socket that is there and may not be opened is no sink that has to be started.
func TestWhoMayNotAsk(t *testing.T) {
	for path, want := range map[string]string{installedSocket: "use sudo", "/tmp/api.sock": "use sudo"} {
		cause := &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)}
		if err := unixSink(path, false).unreachable(cause); !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "start it") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestWhereAConfiguredSinkIsAsked: over TCP where that takes questions from this machine as they
// are, else on the socket.
func TestWhereAConfiguredSinkIsAsked(t *testing.T) {
	t.Setenv("RUNTIME_DIRECTORY", "")
	const (
		token = ` token "a" { sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }`
		tls   = ` tls {
certificate = "/c"
key = "/k"
}`
	)
	for name, c := range map[string]struct{ http, read, write string }{
		"by default":                  {``, "http://127.0.0.1:9465", installedSocket},
		"another address":             {`listen = "192.0.2.7:80"`, "http://192.0.2.7:80", installedSocket},
		"a token on this machine":     {`listen = ":80"` + "\n" + token, "http://127.0.0.1:80", installedSocket},
		"a token on another address":  {`listen = "192.0.2.7:80"` + "\n" + token, installedSocket, installedSocket},
		"TLS":                         {`socket = "/s"` + "\n" + tls, "/s", "/s"},
		"no address":                  {`listen = ""` + "\n" + `socket = "/s"`, "/s", "/s"},
		"TLS, and no socket":          {`socket = ""` + "\n" + tls, "ask with --url, --token-file and --ca", `http.socket is ""`},
		"neither address, nor socket": {`listen = ""` + "\n" + `socket = ""`, "cannot be asked", `http.socket is ""`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.hcl")
			text := `
port "n" { device = "net_null0" }
port "h" { device = "net_null1" }
link "l" {
  network = "n"
  host    = "h"
}
int { udp_port = 5000 }
node { id = 7 }
http {
` + c.http + "\n}\n"
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for control, want := range map[bool]string{false: c.read, true: c.write} {
				switch s, err := (&Options{Config: path, Control: control}).Open(); {
				case err != nil && !strings.Contains(err.Error(), want), err == nil && s.where != want:
					t.Errorf("%+v %v, want %s", s, err, want)
				}
			}
		})
	}
}

// TestFlagsOfTCP: those that cannot do anything are wrong usage.
func TestFlagsOfTCP(t *testing.T) {
	for _, o := range []Options{{TokenFile: "t"}, {CA: "c", Socket: "/s"}, {Cert: "c", Key: "k", Config: "x.hcl"}, {URL: "http://127.0.0.1:1", CA: "c"}} {
		for _, o.Control = range []bool{false, true} {
			if _, err := o.Open(); err == nil || !strings.Contains(err.Error(), "go with") {
				t.Errorf("%+v: %v", o, err)
			}
		}
	}
}

// TestFormat: a format that a command does not have is wrong usage, and its flag names those that it has.
func TestFormat(t *testing.T) {
	for format, want := range map[string]string{"text": "", "json": "", "html": "", "pdf": `--format "pdf": must be text, json or html`} {
		var o Options
		cmd := &cobra.Command{}
		o.Register(cmd)
		o.RegisterFormat(cmd, "for people", "html: a page")
		cmd.Flags().Parse([]string{"--url", "http://127.0.0.1:1", "--format", format})
		if _, err := o.Open(); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%s: %v, want %q", format, err, want)
		}
		if got := cmd.Flags().Lookup("format").Usage; got != "text: for people; json: the API's answer; html: a page" {
			t.Error(got)
		}
	}
}

// TestShow: JSON is the answer as it came, text is made of it, and a refusal that names a field is the flag's.
func TestShow(t *testing.T) {
	const answer = "{\"N\":  7}\n"
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); r.Method == http.MethodPost {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error": "ttl = 0: got %s", "field": "ttl"}`, strings.ReplaceAll(string(body), `"`, "'"))
			return
		}
		io.WriteString(w, answer)
	}))
	defer sink.Close()
	show := func(format string, q Question) (string, error) {
		var out strings.Builder
		err := Show(context.Background(), &out, &Options{URL: sink.URL, Format: format}, q, func(x *struct{ N int }) string { return fmt.Sprintln("seven is", x.N) })
		return out.String(), InFlags(err, nil)
	}
	for format, want := range map[string]string{"json": answer, "text": "seven is 7\n"} {
		if got, err := show(format, Question{Path: "/x"}); err != nil || got != want {
			t.Errorf("%s: %q, %v", format, got, err)
		}
	}
	if got, err := show("text", Question{Method: http.MethodPost, Path: "/x", JSON: map[string]int{"a": 1}}); got != "" || err == nil || err.Error() != "--ttl 0: got {'a':1}" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNobodyElseGetsTheToken: neither who an answer leads to, nor who listens on the way to another machine.
func TestNobodyElseGetsTheToken(t *testing.T) {
	asked := 0
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer thief.Close()
	sink := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer sink.Close()
	token := filepath.Join(t.TempDir(), "token")
	os.WriteFile(token, []byte("secret"), 0o600)
	s, err := (&Options{URL: sink.URL, TokenFile: token}).Open()
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.send(context.Background(), "POST", "/api/v1/reload", struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if a.StatusCode != http.StatusTemporaryRedirect || asked != 0 {
		t.Errorf("%s, the other host is asked %d times", a.Status, asked)
	}
	if s.client.Transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy is asked")
	}
	for url, want := range map[string]bool{"http://sink7:9465": false, "http://192.0.2.1:9465": false, "http://localhost.evil.example:1": false, "https://sink7:9465": true, "http://localhost:9465": true, "http://[::1]:9465": true} {
		if _, err := (&Options{URL: url, TokenFile: token}).Open(); (err == nil) != want {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := (&Options{URL: "http://sink7:9465", TokenFile: token, Insecure: true}).Open(); err != nil {
		t.Error(err)
	}
}

// TestSecretsThatOthersRead: who names a token or key that everybody reads is told, and one of one's own says nothing.
func TestSecretsThatOthersRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for mode, want := range map[os.FileMode]bool{0o644: true, 0o604: true, 0o600: false, 0o640: false} {
		os.WriteFile(path, []byte("secret"), 0o600)
		os.Chmod(path, mode)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		before := os.Stderr
		os.Stderr = w
		_, err = (&Options{URL: "http://127.0.0.1:1", TokenFile: path}).Open()
		os.Stderr = before
		w.Close()
		said, _ := io.ReadAll(r)
		if err != nil || strings.Contains(string(said), "--token-file: everybody on this machine can read") != want {
			t.Errorf("%v: %v %s", mode, err, said)
		}
	}
}

// TestNobodyOnTheSocket: where nobody listens on the socket that is looked at first, the sink is asked over TCP; what changes
// something goes to the socket that this sink names, and where there is none, or no sink, the error has both places.
func TestNobodyOnTheSocket(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "own")
	l, err := net.Listen("unix", own)
	if err != nil {
		t.Fatal(err)
	}
	named := own
	answer := func(where string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if where == "tcp" && r.Method == http.MethodPost {
				w.WriteHeader(http.StatusForbidden)
				io.WriteString(w, `{"error": "this takes a right"}`)
				return
			}
			fmt.Fprintf(w, `{"socket": %q, "where": %q}`, named, where)
		})
	}
	server := &http.Server{Handler: answer("socket")}
	go server.Serve(l)
	defer server.Close()
	tcp := httptest.NewServer(answer("tcp"))
	defer tcp.Close()
	ask := func(control bool, method, url string) string {
		s := (&Options{Control: control}).orAt(unixSink(filepath.Join(dir, "installed"), control), url)
		body, err := s.Ask(context.Background(), method, "/api/v1/mode", nil)
		if err != nil {
			return err.Error()
		}
		var said struct{ Where string }
		if err := s.Decode(body, &said); err != nil {
			t.Error(err)
		}
		return said.Where
	}
	for _, c := range []struct {
		control           bool
		method, url, sock string
		want              string
	}{
		{false, http.MethodGet, tcp.URL, own, "tcp"},
		{true, http.MethodPost, tcp.URL, own, "socket"},
		{true, http.MethodGet, tcp.URL, "", "tcp"},
		{true, http.MethodPost, tcp.URL, "", "this takes a right"},
		{true, http.MethodPost, tcp.URL, filepath.Join(dir, "elsewhere"), "this takes a right"},
		{true, http.MethodPost, "http://127.0.0.1:1", own, "cannot be reached at " + dir + "/installed, nor at http://127.0.0.1:1: "},
	} {
		named = c.sock
		if got := ask(c.control, c.method, c.url); !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
