package control_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/observe/observetest"
)

// TestReloadSaysWhatChanged: the command waits, and prints the changes or the mistakes; metrics,
// status and readyz show the configuration in force.
func TestReloadSaysWhatChanged(t *testing.T) {
	r, socket, path, text := sinktest.WithSocket(t)
	for _, c := range []struct {
		name, old, now string
		stdout, stderr string // parts
		code           int
		generation     float64
	}{
		{"nothing", "", "", "generation 2 is in force: no change\n", "", 0, 2},
		{"a watch", "sample = 100", "sample = 50", "generation 3 is in force: 1 change\n  watch \"all\".sample: 100 -> 50\n", "", 0, 3},
		{"a mistake", "sample = 100", "sampel = 50", "", "c.hcl:19:15: error: watch \"all\": unknown attribute sampel; did you mean sample?", 1, 3},
		{"a restart", "mbufs      = 8192", "mbufs = 16384", "", "reload refused, generation 3 stays in force: 1 change that only a restart can make: dpdk.mbufs: 8192 -> 16384\n", 1, 3},
		{"back", "", "", "generation 4 is in force: 1 change\n  watch \"all\".sample: 50 -> 100\n", "", 0, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := sinktest.Write(t, path, strings.Replace(text, c.old, c.now, 1))
			stdout, stderr, code := sinktest.Run(t, "reload", "--socket", socket)
			if code != c.code || stdout != c.stdout || !strings.Contains(stderr, c.stderr) || c.stderr == "" && stderr != "" {
				t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
			}
			p := observetest.Parse(t, r.Get(t, "/metrics"))
			ok := float64(1 - c.code)
			if p.Series["intsink_config_generation"] != c.generation || p.Series["intsink_config_last_reload_successful"] != ok {
				t.Errorf("generation %v, successful %v", p.Series["intsink_config_generation"], p.Series["intsink_config_last_reload_successful"])
			}
			b, _ := os.ReadFile(src)
			sum := fmt.Sprintf("%x", sha256.Sum256(b))
			if _, same := p.Series[`intsink_config_info{sha256="`+sum+`"}`]; same != (c.code == 0) {
				t.Errorf("intsink_config_info has the file's hash: %v", same)
			}
			if verbose := r.Get(t, "/readyz?verbose"); strings.Contains(verbose, "sha256 "+sum) != (c.code == 0) || !strings.Contains(verbose, fmt.Sprintf("config: generation %v,", c.generation)) {
				t.Errorf("%s", verbose)
			}
			r.Ready(t)
		})
	}
	if text := r.Get(t, "/api/v1/config"); !strings.Contains(text, "  sample      = 100\n") && !strings.Contains(text, "  sample     = 100\n") {
		t.Errorf("%s", text)
	}
}

// TestSIGHUPIsAReload: SIGHUP starts a reload, which status and readiness show as any other.
func TestSIGHUPIsAReload(t *testing.T) {
	r, _, _, _ := sinktest.WithSocket(t)
	sinktest.Eventually(func() bool { // one that comes before the start is over reloads nothing
		r.Cmd.Process.Signal(syscall.SIGHUP)
		return strings.Contains(r.Get(t, "/readyz?verbose"), "by SIGHUP")
	})
	var s struct {
		Config struct {
			Generation int
			LastReload *struct {
				OK bool
				By string
			} `json:"last_reload"`
		}
	}
	if err := json.Unmarshal([]byte(r.Get(t, "/api/v1/status")), &s); err != nil || s.Config.Generation < 2 || s.Config.LastReload == nil || s.Config.LastReload.By != "SIGHUP" || !s.Config.LastReload.OK {
		t.Errorf("%+v %v", s, err)
	}
}

// TestWritesNeedAuthority: over TCP nothing is changed, nor by a request that is not as it
// should be; each try is counted and logged.
func TestWritesNeedAuthority(t *testing.T) {
	r, socket, _, _ := sinktest.WithSocket(t)
	over := func(method, path, body string) (int, string) {
		c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}}}
		req, err := http.NewRequest(method, "http://intsink"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		var e struct{ Error string }
		json.NewDecoder(a.Body).Decode(&e)
		return a.StatusCode, e.Error
	}
	a, err := http.Post("http://"+r.HTTP+"/api/v1/reload", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if a.StatusCode != http.StatusForbidden {
		t.Errorf("a reload over TCP: %s", a.Status)
	}
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/api/v1/reload", "x", 400},
		{"POST", "/api/v1/reload", strings.Repeat("x", 200<<10), 400},
		{"POST", "/api/v1/reload?now=1", "", 400},
		{"GET", "/api/v1/reload", "", 405},
		{"POST", "/api/v1/config", "", 405},
		{"GET", "/api/v1/flows", "", 200},
		{"POST", "/api/v1/reload", "", 200},
	} {
		got, text := over(c.method, c.path, c.body)
		for c.method == "GET" && sinktest.Unpolled(text) {
			got, text = over(c.method, c.path, c.body)
		}
		if got != c.want {
			t.Errorf("%s %s with %d bytes: %d %s", c.method, c.path, len(c.body), got, text)
		}
	}
	p := observetest.Parse(t, r.Get(t, "/metrics"))
	for result, want := range map[control.WriteResult]float64{control.WriteOK: 1, control.WriteForbidden: 1, control.WriteBad: 3, control.WriteRefused: 0} {
		if got := p.Series[fmt.Sprintf(`intsink_api_writes_total{result="%s"}`, result)]; got != want {
			t.Errorf("%s: %v writes, want %v", result, got, want)
		}
	}
	r.Stop(t, sinktest.Patience)
	if n := strings.Count(r.Stderr.String(), `msg="api: write"`); n != 5 || !strings.Contains(r.Stderr.String(), `who="unix uid 0 pid`) {
		t.Errorf("%d lines about writes\n%s", n, r.Stderr)
	}
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket is left behind")
	}
}

// TestReloadByToken: a token comes with a reload, allows one over TCP, and is gone with
// another.
func TestReloadByToken(t *testing.T) {
	r, socket, path, text := sinktest.WithSocket(t)
	token := sinktest.Write(t, filepath.Join(t.TempDir(), "token"), "correct horse\n")
	byToken := func() (string, int) {
		_, stderr, code := sinktest.Run(t, "reload", "--url", "http://"+r.HTTP, "--token-file", token)
		return stderr, code
	}
	if stderr, code := byToken(); code != 1 || !strings.Contains(stderr, "over TCP, a token of http { token }") {
		t.Errorf("without: exit code %d, %s", code, stderr)
	}
	block := fmt.Sprintf("  token \"ci\" {\n    sha256 = \"%x\"\n    role = \"write\"\n  }\n  listen", sha256.Sum256([]byte("correct horse")))
	sinktest.Write(t, path, strings.Replace(text, "  listen", block, 1))
	if stdout := sinktest.Must(t, "reload", "--socket", socket); !strings.Contains(stdout, `http.token "ci": added`) {
		t.Errorf("%s", stdout)
	}
	if stderr, code := byToken(); code != 0 {
		t.Errorf("with the token: exit code %d, %s", code, stderr)
	}
	sent := func(text string) (stdout, stderr string, code int) {
		other := sinktest.Write(t, filepath.Join(t.TempDir(), "other.hcl"), text)
		return sinktest.Run(t, "reload", "--url", "http://"+r.HTTP, "--token-file", token, "--config", other)
	}
	with := strings.Replace(text, "  listen", block, 1)
	if _, stderr, code := sent(with + "bypass { command = [\"/bin/true\"] }\n"); code != 1 || !strings.Contains(stderr, "who has a token changes neither") {
		t.Errorf("a command by token: exit code %d, %s", code, stderr)
	}
	if stdout, stderr, code := sent(strings.Replace(with, "sample = 100", "sample = 50", 1)); code != 0 || !strings.Contains(stdout, "sample: 100 -> 50") {
		t.Errorf("a configuration by token: exit code %d, %s", code, stderr)
	}
	sinktest.Write(t, path, text)
	sinktest.Must(t, "reload", "--socket", socket)
	if _, code := byToken(); code != 1 {
		t.Errorf("with a token that was taken away: exit code %d", code)
	}
}
