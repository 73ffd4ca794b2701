package control_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/internal/netns"
)

// pki writes ca.pem, and certificates with keys of the sink called sink7 and of a client, signed by it.
func pki(t *testing.T, dir string) {
	t.Helper()
	var authority *x509.Certificate
	var authorityKey *ecdsa.PrivateKey
	for i, name := range []string{"ca", "sink7", "alice"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c := &x509.Certificate{
			SerialNumber: big.NewInt(int64(i + 1)), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour),
			IsCA: i == 0, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}
		if i == 0 {
			authority, authorityKey = c, key
		}
		der, err := x509.CreateCertificate(rand.Reader, c, authority, &key.PublicKey, authorityKey)
		if err != nil {
			t.Fatal(err)
		}
		k, _ := x509.MarshalPKCS8PrivateKey(key)
		sinktest.Write(t, filepath.Join(dir, name+".pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
		sinktest.Write(t, filepath.Join(dir, name+".key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: k})))
	}
}

// otherMachine is a shell's process with a network, /etc and /run of its own: a desk that is
// connected to the sink's machine and has files in /etc/intsink.
type otherMachine struct{ pid int }

// newOtherMachine connects it as 192.0.2.99 to 192.0.2.7, which it knows as sink7. Its
// /etc/intsink has the files of dir.
func newOtherMachine(t *testing.T, dir string) otherMachine {
	t.Helper()
	pid := sinktest.Machine(t, syscall.CLONE_NEWNET, `
mount -t tmpfs run /run
mount -t tmpfs etc /etc
mkdir /etc/intsink
cp `+dir+`/* /etc/intsink
echo "192.0.2.7 sink7" >/etc/hosts
echo "hosts: files" >/etc/nsswitch.conf`)
	m := otherMachine{pid}
	netns.Sh(t, fmt.Sprintf(`
ip link add m-sink type veth peer name m-desk netns %[1]d
ip link set m-sink up
ip addr add 192.0.2.7/24 dev m-sink
nsenter -t %[1]d -n ip link set m-desk up
nsenter -t %[1]d -n ip addr add 192.0.2.99/24 dev m-desk
ip link set lo up`, m.pid))
	return m
}

// types runs a command line there.
func (m otherMachine) types(t *testing.T, line string) (stdout, stderr string, code int) {
	t.Helper()
	line = strings.Replace(line, "intsink ", os.Args[0]+" ", 1)
	cmd := exec.Command("nsenter", "-t", fmt.Sprint(m.pid), "-n", "-m", "sh", "-c", line)
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestFromAnotherMachine: the command of docs/change.md that reloads over TLS, as it stands
// there, between two network namespaces; the others that ask a sink, by the same flags; and what
// is said where a flag is missing.
func TestFromAnotherMachine(t *testing.T) {
	if !netns.In(t) {
		return
	}
	page, err := os.ReadFile("../../../../docs/change.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := regexp.MustCompile("`(intsink reload( --url https://sink7:9465 [^`]*))`").FindSubmatch(page)
	if documented == nil {
		t.Fatal("the page has no reload over TLS")
	}
	reload, flags := string(documented[1]), string(documented[2])
	dir := t.TempDir()
	pki(t, dir)
	sinktest.Write(t, filepath.Join(dir, "token"), "correct horse battery staple\n")
	sinktest.Write(t, filepath.Join(dir, "reader"), "tr0ub4dor\n")
	for _, secret := range []string{"token", "reader", "alice.key", "sink7.key"} {
		os.Chmod(filepath.Join(dir, secret), 0o600)
	}
	desk := newOtherMachine(t, dir)
	text, socket := sinktest.AddSocket(t, sinktest.Mitigated(sinktest.InLine(t)))
	hash := func(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }
	text = strings.Replace(text, "  listen = ", fmt.Sprintf(`  tls {
    certificate = "%[1]s/sink7.pem"
    key         = "%[1]s/sink7.key"
    client_ca   = "%[1]s/ca.pem"
  }
  token "desk" {
    sha256 = "%[2]s"
    role   = "write"
  }
  token "prometheus" { sha256 = "%[3]s" }
  listen = `, dir, hash("correct horse battery staple"), hash("tr0ub4dor")), 1)
	path := sinktest.Write(t, filepath.Join(t.TempDir(), "c.hcl"), strings.Replace(text, "%s", "192.0.2.7:9465", 1))
	r := sinktest.StartOf(t, path)
	sinktest.Eventually(func() bool {
		_, _, code := sinktest.Run(t, "mode", "--socket", socket)
		return code == 0
	})
	reader := strings.Replace(flags, "/token ", "/reader ", 1)
	certificate := " --url https://sink7:9465 --ca /etc/intsink/ca.pem --cert /etc/intsink/alice.pem --key /etc/intsink/alice.key"
	for _, c := range []struct {
		name, line     string
		code           int
		stdout, stderr string // parts
	}{
		{"as documented", reload, 0, "generation 2 is in force: no change\n", ""},
		{"by certificate", "intsink reload" + certificate, 0, "generation 3 is in force: no change\n", ""},
		{"status", "intsink status" + flags, 0, "network", ""},
		{"status by a token that reads", "intsink status" + reader, 0, "network", ""},
		{"top", "intsink top workers --once" + certificate, 0, "w0", ""},
		{"paths", "intsink paths" + flags, 0, "", ""},
		{"why", "intsink why udp:10.0.0.1:1024-10.1.0.1:80" + flags, 1, "", "is not in the table"},
		{"mitigations", "intsink mitigate list" + flags, 0, "no rules", ""},
		{"bug report", "intsink report-bug --out -" + flags + " | tar -xzO", 0, "intsink_config_generation 3", ""},
		{"bug report without secrets", "intsink report-bug --out -" + flags + " | tar -xzO | grep -c -e " + hash("correct horse battery staple") + " -e horse", 1, "0\n", ""},
		{"a token that reads alone", "intsink reload" + reader, 1, "", "this token may read alone"},
		{"no token", "intsink reload --url https://sink7:9465 --ca /etc/intsink/ca.pem", 1, "", "a token of http { token } is needed"},
		{"status without a token", "intsink status --url https://sink7:9465 --ca /etc/intsink/ca.pem", 1, "", "a token of http { token } is needed"},
		{"no authority", "intsink status --url https://sink7:9465 --token-file /etc/intsink/token", 1, "", "name the authority that signed its certificate with --ca"},
		{"another name", "intsink status" + strings.Replace(flags, "sink7", "192.0.2.7", 1), 1, "", "name the sink in --url as its certificate does"},
		{"a token in clear", "intsink status --url http://sink7:9465 --token-file /etc/intsink/token", 2, "", "the token would go there in clear"},
		{"no TLS", "intsink status --url http://sink7:9465 --token-file /etc/intsink/token --insecure", 2, "", "it has http.tls: ask https://"},
		{"a certificate without its key", "intsink status --url https://sink7:9465 --cert /etc/intsink/alice.pem", 2, "", "key"},
		{"a token without a URL", "intsink status --token-file /etc/intsink/token", 2, "", "go with --url"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr string
			var code int
			sinktest.Eventually(func() bool {
				stdout, stderr, code = desk.types(t, c.line)
				return !sinktest.Unpolled(stderr)
			})
			if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) || code == 0 && stderr != "" {
				t.Errorf("%s: exit code %d\n%s\n%s", c.line, code, stdout, stderr)
			}
		})
	}
	if s := sinktest.Must(t, "status", "--config", path); !strings.Contains(s, "network") { // on the sink's machine, by its socket
		t.Errorf("%s", s)
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 || !strings.Contains(r.Stderr.String(), "TLS handshake error") ||
		!strings.Contains(r.Stderr.String(), `token \"desk\"`) || !strings.Contains(r.Stderr.String(), `certificate \"alice\"`) {
		t.Errorf("exit code %d\n%s", code, r.Stderr)
	}
}
