package webguard

import (
	"path/filepath"
	"testing"

	"intsink/cmd/internal/webguard/certtest"
	"intsink/conf"
)

// TestConnectionsDoNotWaitForCertificates: while one connection looks at the files, whose disk hangs, others get what was read before.
func TestConnectionsDoNotWaitForCertificates(t *testing.T) {
	dir := t.TempDir()
	ca, key := certtest.Authority(t, "ca")
	certtest.Signed(t, dir, "sink", ca, key)
	f := &files{c: &conf.TLS{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}}
	first, err := f.config()
	if err != nil {
		t.Fatal(err)
	}
	f.looking.Lock() // by one whose disk hangs
	defer f.looking.Unlock()
	if again, err := f.config(); err != nil || again != first {
		t.Errorf("%v, another configuration: %v", err, again != first)
	}
}
