// TLS: loads the endpoint's certificate files, and again when they change.

package webguard

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"intsink/conf"
	"intsink/internal/plainfile"
)

// TLS returns the server's side of TLS by the files of c. A file that changes is read again with
// the next connection; if that fails, the contents that were read before stay in use.
func TLS(c *conf.TLS) (*tls.Config, error) {
	f := &files{c: c}
	first, err := f.config()
	if err != nil {
		return nil, err
	}
	first.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.config() }
	return first, nil
}

// files keeps the contents that were read, and the times of the files then.
type files struct {
	c       *conf.TLS
	read    atomic.Pointer[tls.Config]
	looking sync.Mutex // held while the files are looked at, whose disk may hang; guards of
	of      [3]time.Time
}

// config is what the files have, or had: no connection waits for a look that another one takes.
func (f *files) config() (*tls.Config, error) {
	if before := f.read.Load(); before != nil && !f.looking.TryLock() {
		return before, nil
	} else if before == nil {
		f.looking.Lock()
	}
	defer f.looking.Unlock()
	var of [3]time.Time
	for i, path := range [...]string{f.c.Certificate, f.c.Key, f.c.ClientCA} {
		if info, err := os.Stat(path); err == nil {
			of[i] = info.ModTime()
		}
	}
	before := f.read.Load()
	if before != nil && of == f.of {
		return before, nil
	}
	f.of = of
	c, err := load(f.c)
	if err != nil {
		if before == nil {
			return nil, err
		}
		slog.Warn("http.tls: the files have changed and cannot be used, connections go on with the old ones", "err", err)
		return before, nil
	}
	f.read.Store(c)
	return c, nil
}

func load(c *conf.TLS) (*tls.Config, error) {
	pair, err := plainfile.KeyPair(c.Certificate, c.Key)
	if err != nil {
		return nil, err
	}
	t := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if c.ClientCA == "" {
		return t, nil
	}
	t.ClientAuth = tls.VerifyClientCertIfGiven
	t.ClientCAs, err = plainfile.CertPool(c.ClientCA)
	return t, err
}
