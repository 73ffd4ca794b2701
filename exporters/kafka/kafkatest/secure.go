// Kafka brokers with TLS, SASL and access control lists, and their certificates.

package kafkatest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// User and Password log clients in at the secure listener, by PLAIN, SCRAM-SHA-256 or
// SCRAM-SHA-512.
const (
	User     = "intsink"
	Password = "sink"
)

// StartSecure starts n brokers as [Start] does, with a second listener that asks for TLS and
// SASL, and with access control lists (KRaft's StandardAuthorizer). [User] has no rights at
// first; clients of the first listener, which have no name, have all.
func StartSecure(t testing.TB, n int) *Cluster {
	t.Helper()
	return start(t, n, true)
}

// SecureAddresses returns host:port of every broker's listener with TLS and SASL.
func (c *Cluster) SecureAddresses() (all []string) {
	for _, b := range c.brokers {
		all = append(all, fmt.Sprintf("127.0.0.1:%d", b.secure))
	}
	return all
}

// CA returns the path of a PEM file with the certificate of the secure listener.
func (c *Cluster) CA() string { return c.ca }

func (c *Cluster) listeners(b *broker) string {
	all := fmt.Sprintf("BROKER://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d", b.client, b.controller)
	if c.ca != "" {
		all += fmt.Sprintf(",SECURE://127.0.0.1:%d", b.secure)
	}
	return all
}

func (c *Cluster) keystore() string { return filepath.Join(c.dir, "keystore.pem") }

// secureProperties returns the lines of server.properties that set up the secure listener
// and the authorizer.
func (c *Cluster) secureProperties() string {
	if c.ca == "" {
		return ""
	}
	const listener = "listener.name.secure."
	const module = "org.apache.kafka.common.security."
	return listener + "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512\n" +
		listener + "plain.sasl.jaas.config=" + module + "plain.PlainLoginModule required user_" + User + "=\"" + Password + "\";\n" +
		listener + "scram-sha-256.sasl.jaas.config=" + module + "scram.ScramLoginModule required;\n" +
		listener + "scram-sha-512.sasl.jaas.config=" + module + "scram.ScramLoginModule required;\n" +
		listener + "ssl.keystore.type=PEM\n" +
		listener + "ssl.keystore.location=" + c.keystore() + "\n" +
		"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n" +
		"super.users=User:ANONYMOUS\n"
}

// scramUsers returns the arguments of Kafka's storage formatter that make [User] known.
func (c *Cluster) scramUsers() (args []string) {
	if c.ca == "" {
		return nil
	}
	for _, m := range []string{"SCRAM-SHA-256", "SCRAM-SHA-512"} {
		args = append(args, "--add-scram", m+"=[name="+User+",password="+Password+"]")
	}
	return args
}

// makeCertificate writes a self-signed certificate for 127.0.0.1.
func (c *Cluster) makeCertificate() {
	c.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		c.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "broker"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		c.t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		c.t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	c.ca = filepath.Join(c.dir, "ca.pem")
	for path, b := range map[string][]byte{c.ca: certificate, c.keystore(): append(private, certificate...)} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}
