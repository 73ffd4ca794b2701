package dut

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
)

// client keeps as many connections as browsers and scrapers together do.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// Profile fetches one of Go's profiles, such as "heap", where Setup.Profiles is set.
func (p *Intsink) Profile(name string) ([]byte, error) {
	return fetch("http://" + p.pprof + "/debug/pprof/" + name)
}

// Get fetches what a path of intsink's HTTP endpoint answers, such as "/metrics".
func (p *Intsink) Get(path string) ([]byte, error) { return fetch(p.url + path) }

// Visit asks what an open page asks, as a page does: it takes an answer that is at most a
// second old.
func (p *Intsink) Visit() error {
	for _, path := range []string{"/api/v1/status", "/api/v1/flows?sort=bytes&limit=100"} {
		if _, err := fetchWith(http.Header{"Cache-Control": {"max-age=1"}}, p.url+path); err != nil {
			return err
		}
	}
	return nil
}

// Address returns where its HTTP endpoint listens.
func (p *Intsink) Address() string { return strings.TrimPrefix(p.url, "http://") }

// streams counts calls of Stream.
var streams atomic.Uint32

// Stream reads what a path answers without end, until ctx is done. Each comes from an address of its own, 127.0.0.2 and
// up, as browsers on desks do: the sink gives one address few streams.
func (p *Intsink) Stream(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		return err
	}
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+streams.Add(1)%250))}}
	browser := http.Transport{DialContext: from.DialContext}
	defer browser.CloseIdleConnections()
	response, err := browser.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// Reload makes intsink do what t asks for; Counters.Generation tells when it does.
func (p *Intsink) Reload(t Task) error {
	if err := p.write(t); err != nil {
		return err
	}
	p.task = t
	return p.cmd.Process.Signal(syscall.SIGHUP)
}

// fetch gets what a URL of intsink answers.
func fetch(url string) ([]byte, error) { return fetchWith(http.Header{}, url) }

func fetchWith(header http.Header, url string) ([]byte, error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header = header
	resp, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return io.ReadAll(resp.Body)
}
