// Read: a regular file of at most 1 MiB, without ever waiting; KeyPair and CertPool of such files.

// Package plainfile reads the files that a configuration names: configurations, certificates, keys, passwords. A
// service reads them while it runs, so no file may keep it waiting or fill its memory.
package plainfile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Max is how many bytes a file may have.
const Max = 1 << 20

// ErrNotRegular is wrapped in the error of a path that is not a regular file.
var ErrNotRegular = errors.New("not a regular file: a pipe, socket, device or folder cannot be read here; name a file")

// Read returns the contents of the regular file at path, of at most Max bytes.
func Read(path string) ([]byte, error) { return ReadAtMost(path, Max) }

// ReadAtMost is Read of a file of at most so many bytes.
func ReadAtMost(path string, most int) ([]byte, error) {
	b, err := read(path, most)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return b, nil
}

func read(path string, most int) ([]byte, error) {
	var s unix.Stat_t
	if err := retry(func() error { return unix.Stat(path, &s) }); err != nil {
		return nil, err
	}
	if s.Mode&unix.S_IFMT != unix.S_IFREG { // before it is opened: opening a device or pipe does something to it
		return nil, ErrNotRegular
	}
	fd := -1
	err := retry(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := unix.Fstat(fd, &s); err != nil {
		return nil, err
	}
	if s.Mode&unix.S_IFMT != unix.S_IFREG { // it was replaced meanwhile
		return nil, ErrNotRegular
	}
	return contents(fd, most)
}

// contents reads fd to its end. Not by package os, whose files wait where a read finds nothing yet, as in some files of
// /proc and /sys that call themselves regular.
func contents(fd, most int) ([]byte, error) {
	b := make([]byte, 0, 4096)
	for len(b) <= most {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n := 0
		err := retry(func() (err error) {
			n, err = unix.Read(fd, b[len(b):min(cap(b), most+1)])
			return err
		})
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil, ErrNotRegular
		case err != nil:
			return nil, err
		case n == 0:
			return b, nil
		}
		b = b[:len(b)+n]
	}
	return nil, fmt.Errorf("larger than %d KiB", most>>10)
}

// retry calls f until no signal interrupts it.
func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// KeyPair is tls.LoadX509KeyPair for files as Read reads them.
func KeyPair(certificate, key string) (tls.Certificate, error) {
	c, err := Read(certificate)
	if err != nil {
		return tls.Certificate{}, err
	}
	k, err := Read(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(c, k)
}

// ClientTLS names the files that a client's TLS is made of, "" for none, and the name that the server's certificate must have, ""
// for the host of its address.
type ClientTLS struct{ CA, Certificate, Key, ServerName string }

// Config reads the files.
func (t *ClientTLS) Config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		ca, err := CertPool(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls.ca: %w", err)
		}
		c.RootCAs = ca
	}
	if t.Certificate != "" {
		pair, err := KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, fmt.Errorf("tls.certificate, tls.key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// CertPool returns the certificates of a file in PEM form.
func CertPool(path string) (*x509.CertPool, error) {
	b, err := Read(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("%s has no certificate in PEM form", path)
	}
	return pool, nil
}
