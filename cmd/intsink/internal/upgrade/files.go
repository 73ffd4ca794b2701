// The files of an upgrade: unpacks a package beside the program that runs, tries it, installs it when it is confirmed.

package upgrade

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"intsink/cmd/intsink/internal/statefile"
)

// packageOf is the Debian package that was given as the new program, until it is installed.
func packageOf(own string) string { return Next(own) + ".deb" }

// Prepare puts the program in file, a Debian package or the program itself, beside the one at own, and returns what it calls
// itself. The error says why it cannot run here; then nothing is left.
func Prepare(file, own string) (version string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	os.Remove(packageOf(own)) // of an upgrade that nobody confirmed
	program := text
	if bytes.HasPrefix(text, []byte("!<arch>\n")) {
		if program, err = unpack(file, own); err == nil {
			err = statefile.Whole(packageOf(own), text)
		}
		if err != nil {
			return "", err
		}
	}
	next := Next(own)
	if err = statefile.Whole(next, program); err == nil {
		err = os.Chmod(next, 0o755)
	}
	if err == nil {
		version, err = try(next)
	}
	if err != nil {
		os.Remove(next)
		os.Remove(packageOf(own))
		return "", err
	}
	return version, nil
}

// unpack returns the program in a package, where dpkg would take that on this machine in place of the one at own.
func unpack(deb, own string) (program []byte, err error) {
	fields, err := output("dpkg-deb", "--show", "--showformat", "${Package} ${Architecture}", deb)
	if err != nil {
		return nil, err
	}
	arch, err := output("dpkg", "--print-architecture")
	if err != nil {
		return nil, err
	}
	if fields != "intsink "+arch {
		return nil, fmt.Errorf("%s is a package %s: this machine takes intsink %s", deb, fields, arch)
	}
	if _, err := output("dpkg", "--search", own); err != nil {
		return nil, fmt.Errorf("the sink runs %s, which no package has: give the program itself: dpkg-deb --fsys-tarfile %s | tar -xO ./usr/bin/intsink >new", own, deb)
	}
	if err := dependencies(deb); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "intsink-upgrade")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := output("dpkg-deb", "--extract", deb, dir); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, own))
}

var (
	installs = regexp.MustCompile(`(?m)^Inst (\S+)`)
	unmet    = regexp.MustCompile(`(?m)^ *(?:\S+ : )?(Depends: .*)$`)
)

// dependencies returns an error where a package needs another one that is not installed.
func dependencies(deb string) error {
	path, err := filepath.Abs(deb)
	if err != nil {
		return err
	}
	said, err := output("apt-get", "--simulate", "--allow-downgrades", "--no-install-recommends", "install", path)
	if why := unmet.FindStringSubmatch(said); err != nil && why != nil {
		return fmt.Errorf("%s: %s: install that first", deb, strings.TrimSpace(why[1]))
	} else if err != nil {
		return err
	}
	var lacking []string
	for _, m := range installs.FindAllStringSubmatch(said, -1) {
		if m[1] != "intsink" {
			lacking = append(lacking, m[1])
		}
	}
	if len(lacking) > 0 {
		return fmt.Errorf("%s needs packages that are not installed, or older: apt-get install %s", deb, strings.Join(lacking, " "))
	}
	return nil
}

// try runs the program at path, as far as that changes nothing: it may want libraries that are not here, or another processor.
func try(path string) (version string, err error) {
	if version, err = output(path, "version"); err != nil {
		return "", fmt.Errorf("the new program does not run here: %w", err)
	}
	if !strings.HasPrefix(version, "intsink ") {
		return "", fmt.Errorf("it is no intsink: its version is %.40q", version)
	}
	if _, err := output(path, "upgrade", "--help"); err != nil {
		return "", fmt.Errorf("%s is older than intsink upgrade and waits for no turn: install it, and restart the sink", version)
	}
	return version, nil
}

// output returns what a command prints, without the last line's end; with an error, what it said last of why.
func output(name string, args ...string) (string, error) {
	var out, said bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(&said)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	err := cmd.Run()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		err = fmt.Errorf("%s: %w: %.300s", filepath.Base(name), err, lines[len(lines)-1])
	}
	return strings.TrimSpace(out.String()), err
}

// Install makes the program beside the one at own, which has been confirmed, the one that is installed. The one before it is kept.
func Install(own string) error {
	next, before, deb := Next(own), Before(own), packageOf(own)
	if err := os.Remove(before); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(own, before); err != nil {
		return err
	}
	if _, err := os.Stat(deb); err == nil {
		if _, err := output("dpkg", "--force-confdef", "--force-confold", "--install", deb); err != nil {
			return err
		}
		os.Remove(deb)
	}
	return os.Rename(next, own) // a package has put the same there: so the file is the one that runs
}
