package observe

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"intsink/conf"
	"intsink/internal/loopback"
)

// answers tells whether something does at url.
func answers(url string) bool {
	c := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	a, err := c.Get(url + "/healthz")
	if err != nil {
		return false
	}
	defer a.Body.Close()
	io.Copy(io.Discard, a.Body)
	return a.StatusCode == 200
}

// certificate writes a pair of files.
func certificate(t *testing.T) *conf.TLS {
	t.Helper()
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	k, _ := x509.MarshalPKCS8PrivateKey(key)
	dir := t.TempDir()
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return &conf.TLS{Certificate: write("c.pem", "CERTIFICATE", der), Key: write("k.pem", "PRIVATE KEY", k)}
}

// TestAddressesChangeWhileServing: what stays goes on, a request under way on an address
// that goes ends; what cannot be opened is degraded, and holds nothing else up.
func TestAddressesChangeWhileServing(t *testing.T) {
	a, b, taken := loopback.Address(t), loopback.Address(t), loopback.Address(t)
	_, port, _ := net.SplitHostPort(b) // b moves to all addresses
	files, of := certificate(t), source(polling(t)).Source
	s := Serve(conf.HTTP{Listen: a}, of, nil)
	defer s.Stop()
	change := func(h conf.HTTP, wrong string) {
		t.Helper()
		s.Change(h, func() {})
		if err := of.Degraded.Err(); wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Fatalf("%v, want %q", err, wrong)
		}
	}
	expect := func(what string, urls map[string]bool) {
		t.Helper()
		for url, want := range urls {
			if answers(url) != want {
				t.Errorf("%s: %s answers %v", what, url, !want)
			}
		}
	}
	expect("at start", map[string]bool{"http://" + a: true, "http://" + b: false})
	stream, err := http.Get("http://" + a + "/api/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	change(conf.HTTP{Listen: b}, "")
	expect("moved", map[string]bool{"http://" + a: false, "http://" + b: true})
	if rest, err := io.ReadAll(stream.Body); err != nil && !bytes.Contains(rest, []byte("retry")) {
		t.Errorf("the stream of the old address: %q %v", rest, err)
	}
	l, err := net.Listen("tcp", taken)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	change(conf.HTTP{Listen: a, Pprof: taken}, `http.pprof = "`+taken)
	expect("beside a taken one", map[string]bool{"http://" + a: true, "http://" + b: false})
	change(conf.HTTP{Listen: ":" + port}, "")
	expect("on all addresses", map[string]bool{"http://" + b: true})
	change(conf.HTTP{Listen: "0.0.0.0:" + port, Pprof: taken}, `http.pprof = "`+taken)
	expect("on all IPv4 addresses", map[string]bool{"http://" + b: true})
	change(conf.HTTP{Listen: b}, "")
	expect("on one address again", map[string]bool{"http://" + b: true})
	change(conf.HTTP{Listen: b, TLS: &conf.TLS{Certificate: "/missing", Key: "/missing"}}, "tls: ")
	expect("without the files of TLS", map[string]bool{"http://" + b: false, "https://" + b: false})
	change(conf.HTTP{Listen: b, TLS: files}, "")
	expect("with TLS", map[string]bool{"http://" + b: false, "https://" + b: true})
	change(conf.HTTP{Listen: b, Pprof: taken}, `http.pprof = "`+taken)
	expect("without TLS", map[string]bool{"http://" + b: true, "https://" + b: false})
	socket := filepath.Join(t.TempDir(), "s")
	change(conf.HTTP{Listen: b, TLS: files, Socket: socket}, "")
	if c, err := net.Dial("unix", socket); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
	change(conf.HTTP{}, "")
	expect("off", map[string]bool{"https://" + b: false})
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket is left behind")
	}
}

// TestTokensGuardFromTheFirstRequest: who connects while addresses are opened is answered by the configuration that has them.
func TestTokensGuardFromTheFirstRequest(t *testing.T) {
	var adopted atomic.Bool
	of := source(polling(t)).Source
	config := of.Config
	of.Config = func() *conf.Config {
		if !adopted.Load() {
			t.Error("a request is answered before the configuration is in force")
		}
		return config()
	}
	s := Serve(conf.HTTP{}, of, nil)
	defer s.Stop()
	a := loopback.Address(t)
	var early net.Conn
	s.Change(conf.HTTP{Listen: a}, func() {
		c, err := net.Dial("tcp", a)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, "GET /metrics HTTP/1.0\r\n\r\n")
		early = c
		adopted.Store(true)
	})
	defer early.Close()
	if answer, err := io.ReadAll(early); err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.0 200")) {
		t.Errorf("%v: %.100s", err, answer)
	}
}

// TestWhatCannotBeOpenedIsTriedAgain: an address that is taken, files of TLS that are missing, a folder of the
// socket that is, and a host name: each is opened once it can be, and then it is degraded no more.
func TestWhatCannotBeOpenedIsTriedAgain(t *testing.T) {
	files, dir, of := certificate(t), filepath.Join(t.TempDir(), "run"), source(polling(t)).Source
	certificatePath := files.Certificate
	if err := os.Rename(certificatePath, certificatePath+".later"); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", loopback.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	listen, pprof, socket := loopback.Address(t), taken.Addr().String(), filepath.Join(dir, "s")
	tick := make(chan time.Time)
	s := Serve(conf.HTTP{Listen: listen, TLS: files, Pprof: pprof, Socket: socket}, of, tick)
	defer s.Stop()
	try := func(want ...string) {
		t.Helper()
		tick <- time.Time{}
		tick <- time.Time{} // the first try is over
		var got []string
		for _, d := range of.Degraded.List() {
			got = append(got, d.Name)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v are degraded, want %v: %v", got, want, of.Degraded.Err())
		}
	}
	try("listen", "pprof", "socket")
	os.Rename(certificatePath+".later", certificatePath)
	try("pprof", "socket")
	if !answers("https://" + listen) {
		t.Error("no answer with TLS")
	}
	taken.Close()
	try("socket")
	os.Mkdir(dir, 0o700)
	try()
	connects := func() {
		t.Helper()
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	connects()
	os.Remove(socket)
	try()
	connects()
	os.Remove(socket)
	s.Change(conf.HTTP{Listen: listen, TLS: files, Pprof: pprof, Socket: socket}, func() {}) // as SIGHUP does
	connects()
	os.Remove(socket)
	other, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	try("socket")
	connects() // the other one's stays
	other.Close()
	try()
	connects()
	_, port, _ := net.SplitHostPort(pprof)
	s.Change(conf.HTTP{Listen: "localhost:" + port}, func() {})
	try()
	if !answers("http://" + pprof) {
		t.Error("no answer at a host name")
	}
}

// TestPagesGetNothing: a web page whose name leads here (DNS rebinding) gets nothing of what is listened on over TCP, profiles neither.
func TestPagesGetNothing(t *testing.T) {
	of, listen, pprof := source(polling(t)).Source, loopback.Address(t), loopback.Address(t)
	s := Serve(conf.HTTP{Listen: listen, Pprof: pprof}, of, nil)
	defer s.Stop()
	for _, url := range []string{"http://" + listen + "/api/v1/status", "http://" + pprof + "/debug/pprof/cmdline"} {
		for host, want := range map[string]int{"": 200, "evil.example:9465": http.StatusMisdirectedRequest} {
			r, _ := http.NewRequest("GET", url, nil)
			r.Host = host
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			a.Body.Close()
			if a.StatusCode != want || a.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" || a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s as %q: %d %v", url, host, a.StatusCode, a.Header)
			}
		}
	}
}
