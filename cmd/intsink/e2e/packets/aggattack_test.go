package packets_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/engine/wire/intgen"
	"intsink/internal/netns"
)

// TestTransparentSecurityThroughAProxy: the requests that CableLabs publishes, as they are
// published, without a token, to a proxy that adds it, as docs/api.md has one; the packets of the
// attack that they name are dropped on the wire, and pass again.
func TestTransparentSecurityThroughAProxy(t *testing.T) {
	if !netns.In(t) {
		return
	}
	const token = "Zm9yIHRoZSBhbmFseXRpY3M"
	sum := sha256.Sum256([]byte(token))
	text := strings.Replace(sinktest.Mitigated(sinktest.InLine(t)), `http { listen = "%s" }`, fmt.Sprintf("http {\n  listen = \"%%s\"\n  token \"tps\" {\n    sha256 = %q\n    role = \"write\"\n  }\n}", hex.EncodeToString(sum[:])), 1)
	r := sinktest.Start(t, text)
	r.Ready(t)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(&url.URL{Scheme: "http", Host: r.HTTP})
		p.Out.Header.Set("Authorization", "Bearer "+token)
	}})
	defer proxy.Close()
	ask := func(base, method, query, body string) int {
		t.Helper()
		q, err := http.NewRequest(method, base+"/aggAttack"+query, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		if b, _ := io.ReadAll(a.Body); a.StatusCode == http.StatusCreated && string(b) != `"{\"success\": true}"`+"\n" {
			t.Errorf("%s", b)
		}
		r.Adopted(t)
		return a.StatusCode
	}

	in := sinktest.OpenWire(t, "a-near")
	arrived := make(chan uint16, 64) // destination ports
	sinktest.Receive(t, sinktest.OpenWire(t, "b-far"), func(f []byte) { arrived <- uint16(f[36])<<8 | uint16(f[37]) })
	// passes sends a packet of the attack and then one that is none, and tells which arrive.
	passes := func() (attack bool) {
		t.Helper()
		for _, port := range []uint16{1234, 1235} {
			f := intgen.Flow{SrcMAC: [6]byte{0, 0, 0, 0, 1, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Src: netip.MustParseAddr("192.168.1.9"), Dst: netip.MustParseAddr("192.168.1.2"), Proto: intgen.UDP, SrcPort: 4321, DstPort: port}
			for !in.Send(f.Frame(60, 1)) {
				time.Sleep(time.Millisecond)
			}
		}
		for {
			select {
			case port := <-arrived:
				if port == 1235 {
					return attack
				}
				attack = true
			case <-time.After(sinktest.Patience):
				t.Fatal("nothing arrives")
			}
		}
	}

	if !passes() {
		t.Fatal("packets are dropped before anybody asked for it")
	}
	const playbook = `{"event": {"src_mac": "00:00:00:00:01:01", "dst_ip": "192.168.1.2", "dst_port": "1234"}}`
	for _, c := range []struct{ name, query, start, stop string }{
		{"playbook", "", playbook, playbook},
		{"siddhi", "", `{"event":{"src_mac":"00:00:00:00:01:01","ip_ver":4,"dst_ip":"192.168.1.2","dst_port":1234,"count":10}}`, `{"event":{"dropKey":"ed2a688b09f4eeea52a282946609442a","dropCount":57,"count":3}}`},
		{"parameters", "?src_mac=00%3A00%3A00%3A00%3A01%3A01&dst_ip=192.168.1.2&dst_port=1234", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code := ask("http://"+r.HTTP, "POST", c.query, c.start); code != http.StatusForbidden || !passes() {
				t.Errorf("without the proxy: %d", code)
			}
			if code := ask(proxy.URL, "POST", c.query, c.start); code != http.StatusCreated || passes() {
				t.Errorf("started: %d", code)
			}
			if code := ask(proxy.URL, "DELETE", c.query, c.stop); code != http.StatusCreated || !passes() {
				t.Errorf("stopped: %d", code)
			}
		})
	}
	p := r.Balanced(t)
	if n := p.Series[`intsink_dropped_packets_total{link="edge",direction="to_host",reason="mitigation"}`]; n != 3 {
		t.Errorf("%v packets were dropped, want 3", n)
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 || strings.Count(r.Stderr.String(), `token \"tps\"`) < 6 {
		t.Errorf("exit code %d\n%s", code, r.Stderr)
	}
}
