// Checks of collect's configuration that look at the disk: files that it names, secrets that others may read,
// the kind of an output's file, two names of one file, room for the spool.

package collector

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"intsink/conf/schema"
)

// regular tells of what is there and no file. One that cannot be read is not refused: its output waits for it.
// Text that was not loaded from a file is checked for itself alone.
func (f check) regular(what, attribute string, path *string) {
	if !f.disk || *path == "" {
		return
	}
	if s, err := os.Stat(*path); err == nil && !s.Mode().IsRegular() {
		f.ErrorAt([]any{path}, "%s: %s: %s is not a file", what, attribute, schema.Quote(*path))
	}
}

// sink tells of a sinks' configuration that cannot be read: what is in reports means something else without it.
func (f check) sink(path *string) {
	if f.regular("sink", "file", path); !f.disk || *path == "" {
		return
	}
	if err := unix.Access(*path, unix.R_OK); err != nil {
		f.ErrorAt([]any{path}, "sink: file: cannot read %s: %v", schema.Quote(*path), err)
	}
}

func (f check) tls(what string, t *TLS) {
	if t == nil {
		return
	}
	f.regular(what, "tls.ca", &t.CA)
	f.regular(what, "tls.certificate", &t.Certificate)
	f.secret(what+": tls", "key", &t.Key)
	if (t.Certificate == "") != (t.Key == "") {
		f.ErrorAt([]any{&t.Certificate, &t.Key}, "%s: tls: certificate and key belong together: name both or neither", what)
	}
}

// secret tells of what is no file, and of one that others may read.
func (f check) secret(what, attribute string, path *string) {
	f.regular(what, attribute, path)
	if s, err := os.Stat(*path); err == nil && s.Mode().Perm()&0o004 != 0 {
		f.WarnAt([]any{path}, "%s: everybody on this machine can read %s: chmod o-r it", what, schema.Quote(*path))
	}
}

func (f check) file(o *File, before []File) {
	what := "file " + schema.Quote(o.Name)
	if !f.Good(&o.Path) {
		return
	}
	if o.Path == "" || o.Path == "unix:" {
		f.ErrorAt([]any{&o.Path}, `%s: path is empty; name a file, "-" for standard output, or "unix:PATH" for a socket`, what)
		return
	}
	for i := range before {
		if other := &before[i]; samePlace(o.Path, other.Path) {
			f.ErrorAt([]any{&o.Path}, "%s: path %s is that of file %s", what, schema.Quote(o.Path), schema.Quote(other.Name))
		}
	}
	if special := o.Path == "-" || strings.HasPrefix(o.Path, "unix:"); special {
		if o.Rotate > 0 {
			f.ErrorAt([]any{&o.Rotate}, "%s: rotate is for files; %s is none", what, schema.Quote(o.Path))
		}
		return
	}
	if bad := regexp.MustCompile(`%([^YmdH%]|$)`).FindString(strings.ReplaceAll(o.Path, "%%", "")); bad != "" {
		f.ErrorAt([]any{&o.Path}, "%s: path %s has %s; %%Y, %%m, %%d and %%H are year, month, day and hour (UTC), %%%% is %%", what, schema.Quote(o.Path), bad)
		return
	}
	if s, err := os.Stat(o.Path); err == nil && s.IsDir() {
		f.ErrorAt([]any{&o.Path}, "%s: path %s is a folder; name a file in it", what, schema.Quote(o.Path))
	} else if err == nil && !s.Mode().IsRegular() {
		f.ErrorAt([]any{&o.Path}, `%s: path %s is not a regular file; "-" is standard output, "unix:PATH" a socket`, what, schema.Quote(o.Path))
	}
}

// samePlace reports whether two paths lead to one file, by whatever names.
func samePlace(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return os.SameFile(x, y)
	}
	return real(a) == real(b)
}

// real is path without links, as far as its folder is there.
func real(path string) string {
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		return whole
	}
	if to, err := os.Readlink(path); err == nil { // to a file that is not there yet
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return filepath.Clean(path)
}

// spool checks that its folder has a name and room, and warns where brokers may be away and nothing waits
// for them.
func (f check) spool(c *Config) {
	s := c.Spool
	if s == nil {
		if c.pageAlone() {
			return
		}
		if at := slices.IndexFunc(c.outputs(), func(o output) bool { return o.elsewhere }); at >= 0 {
			away := c.outputs()[at]
			f.WarnAt([]any{away.key}, "%s: without a spool, records are dropped once memory for them is full, as while the server is away; spool { directory = \"/var/lib/intsink-collect\" } keeps them", away.what)
		}
		return
	}
	if !f.Good(&s.Directory) {
		return
	}
	if s.Mode == SpoolOverflow {
		f.WarnAt([]any{&s.Mode}, "spool: mode = \"overflow\" has no effect: every report packet is written to the spool; leave it out")
	}
	if s.Directory == "" {
		f.ErrorAt([]any{&s.Directory}, "spool: directory is empty; name a folder, such as /var/lib/intsink-collect")
		return
	}
	if size, ok := diskSize(s.Directory); ok && s.Size > size && f.disk {
		f.WarnAt([]any{&s.Size, &s.Directory}, "spool: size = %s: the disk of %s has %d MiB; the disk will be full before the spool is", schema.SizeText(s.Size), schema.Quote(s.Directory), size>>20)
	}
}

// diskSize returns the bytes of the disk that path is on, or will be.
func diskSize(path string) (int64, bool) {
	for {
		var s unix.Statfs_t
		if err := unix.Statfs(path, &s); err == nil {
			return int64(s.Blocks) * s.Bsize, true
		}
		up := filepath.Dir(path)
		if up == path {
			return 0, false
		}
		path = up
	}
}
