package control

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/webguard"
	"intsink/cmd/internal/webguard/certtest"
	"intsink/conf"
)

// tokens returns two tokens: "r" may read, "w" may write.
func tokens() []conf.Token {
	sum := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	return []conf.Token{{Name: "reader", SHA256: sum("r"), Role: "read"}, {Name: "ci", SHA256: sum("w"), Role: "write"}}
}

// TestTokens: which requests over TCP are allowed, from this machine and others, if there are
// tokens.
func TestTokens(t *testing.T) {
	for _, c := range []struct {
		name, from, bears string
		read, write       int
	}{
		{"nothing, from here", "127.0.0.1:5", "", 200, 403},
		{"nothing, from here by IPv6", "[::1]:5", "", 200, 403},
		{"nothing, from here by mapped IPv4", "[::ffff:127.0.0.1]:5", "", 200, 403},
		{"nothing", "192.0.2.1:5", "", 401, 401},
		{"a wrong token", "192.0.2.1:5", "Bearer x", 401, 401},
		{"the hash in place of the token", "192.0.2.1:5", "Bearer " + tokens()[1].SHA256, 401, 401},
		{"an empty token", "192.0.2.1:5", "Bearer ", 401, 401},
		{"another scheme", "192.0.2.1:5", "Basic w", 401, 401},
		{"one that may read", "192.0.2.1:5", "Bearer r", 200, 403},
		{"one that may read, from here", "127.0.0.1:5", "Bearer r", 200, 403},
		{"one that may write", "192.0.2.1:5", "bearer w", 200, 200},
		{"one that may write, from here", "127.0.0.1:5", "Bearer w", 200, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			sink, s, _ := server()
			sink.config.HTTP.Tokens = tokens()
			ask := func(method, path string) int {
				mux := http.NewServeMux()
				s.Register(mux)
				r := httptest.NewRequest(method, path, nil)
				r.RemoteAddr = c.from
				if c.bears != "" {
					r.Header.Set("Authorization", c.bears)
				}
				w := httptest.NewRecorder()
				s.Guard(mux).ServeHTTP(w, r)
				return w.Code
			}
			if got := ask("GET", "/api/v1/config"); got != c.read {
				t.Errorf("read: %d, want %d", got, c.read)
			}
			if got := ask("POST", "/api/v1/reload"); got != c.write || (sink.reloads == 1) != (c.write == 200) {
				t.Errorf("write: %d, want %d; %d reloads", got, c.write, sink.reloads)
			}
			if got := ask("GET", "/healthz"); got == 401 {
				t.Error("health needs a token")
			}
		})
	}
}

// TestConfigHidesHashes: GET /api/v1/config does not show the hashes of tokens.
func TestConfigHidesHashes(t *testing.T) {
	sink, s, _ := server()
	sink.config.HTTP.Tokens = tokens()
	mux := http.NewServeMux()
	s.Register(mux)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/config", nil))
	if text := w.Body.String(); !strings.Contains(text, `token "ci" {`) || strings.Contains(text, tokens()[1].SHA256) || sink.config.HTTP.Tokens[1].SHA256 != tokens()[1].SHA256 {
		t.Errorf("%s", text)
	}
}

// TestClientCertificates: a client with a certificate of the authority may write, one without
// may not, one of another authority gets no connection; a renewed server certificate is used
// at once.
func TestClientCertificates(t *testing.T) {
	dir, clientDir := t.TempDir(), t.TempDir()
	ca, caKey := certtest.Authority(t, "ca")
	certtest.File(t, filepath.Join(dir, "ca.pem"), "CERTIFICATE", ca.Raw)
	certtest.Signed(t, dir, "sink", ca, caKey)
	sink, s, log := server()
	sink.config.HTTP.TLS = &conf.TLS{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), ClientCA: filepath.Join(dir, "ca.pem")}
	c, err := webguard.TLS(sink.config.HTTP.TLS)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", c)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	s.Register(mux)
	h := &http.Server{Handler: s.Guard(mux), ConnContext: ConnContext}
	go h.Serve(l)
	defer h.Shutdown(context.Background())
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	ask := func(certificates ...tls.Certificate) (int, string) {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: certificates}, DisableKeepAlives: true}
		a, err := (&http.Client{Transport: transport}).Post("https://"+l.Addr().String()+"/api/v1/reload", "", nil)
		if err != nil {
			return 0, ""
		}
		defer a.Body.Close()
		io.Copy(io.Discard, a.Body)
		return a.StatusCode, a.TLS.PeerCertificates[0].Subject.CommonName
	}
	other, otherKey := certtest.Authority(t, "other")
	if got, _ := ask(); got != 403 {
		t.Errorf("without a certificate: %d", got)
	}
	if got, _ := ask(certtest.Signed(t, clientDir, "ci", ca, caKey)); got != 200 || !strings.Contains(log.String(), `certificate \"ci\"`) {
		t.Errorf("with one: %d\n%s", got, log)
	}
	if got, _ := ask(certtest.Signed(t, clientDir, "stranger", other, otherKey)); got == 200 {
		t.Error("with one of another authority")
	}
	certtest.Signed(t, dir, "renewed", ca, caKey)
	os.Chtimes(filepath.Join(dir, "cert.pem"), time.Time{}, time.Now().Add(time.Minute))
	if _, name := ask(); name != "renewed" {
		t.Errorf("the certificate of %q", name)
	}
	os.WriteFile(filepath.Join(dir, "cert.pem"), []byte("nonsense"), 0o600)
	os.Chtimes(filepath.Join(dir, "cert.pem"), time.Time{}, time.Now().Add(2*time.Minute))
	if _, name := ask(); name != "renewed" {
		t.Errorf("with a file that cannot be used the certificate of %q", name)
	}
}

// FuzzAuthorization: a header gives a token only if it bears the secret.
func FuzzAuthorization(f *testing.F) {
	for _, h := range []string{"Bearer w", "bearer r", "Bearer", "Basic w", "Bearer  w", "Bearer w ", ""} {
		f.Add(h)
	}
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", header)
		found := webguard.TokenOf(tokens(), r)
		if want := len(header) == 8 && strings.EqualFold(header[:7], "Bearer ") && (header[7] == 'r' || header[7] == 'w'); (found != nil) != want {
			t.Fatalf("%q: %+v", header, found)
		}
	})
}
