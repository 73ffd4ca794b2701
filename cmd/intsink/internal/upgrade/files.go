// Program: the files of an upgrade: unpacks a package beside the program that runs, tries it, installs it when it is confirmed.

package upgrade

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"intsink/cmd/internal/trusted"
	"intsink/internal/plainfile"
)

// Program is the one that is installed, which a sink runs, in its folder.
type Program struct {
	folder *trusted.Folder
	file   *os.File
	name   string
}

// programName is that of the sink's program, wherever it is: no other one is ever replaced.
const programName = "intsink"

// Of is the program that the process pid runs: a sink, or the guard of one that is on trial.
func Of(pid int) (*Program, error) {
	folder, file, err := trusted.ProgramOf(pid)
	if err != nil {
		return nil, err
	}
	p := &Program{folder, file, filepath.Base(file.Name())}
	if p.name != programName {
		p.Close()
		return nil, fmt.Errorf("the sink runs %s, which is not the program that is installed: intsink confirm, or restart the sink, and then upgrade", p.Path())
	}
	return p, nil
}

// Close closes p.
func (p *Program) Close() {
	p.file.Close()
	p.folder.Close()
}

// Path is where p is.
func (p *Program) Path() string { return p.folder.Path(p.name) }

// packageOf is the Debian package that was given as the new program, until it is installed.
func packageOf(own string) string { return Next(own) + ".deb" }

// mostBytes is more than any program or package of ours has.
const mostBytes = 1 << 30

// Prepare puts the program in file, a Debian package or the program itself, beside p, and returns what it calls itself. The file is
// read once. The error says why it cannot run here; then nothing is left.
func (p *Program) Prepare(file string) (version string, err error) {
	text, err := plainfile.ReadAtMost(file, mostBytes)
	if err != nil {
		return "", err
	}
	p.Forget() // of an upgrade that nobody confirmed
	defer func() {
		if err != nil {
			p.Forget()
		}
	}()
	if bytes.HasPrefix(text, []byte("!<arch>\n")) {
		deb, err := p.folder.Write(packageOf(p.name), text, 0o644) // apt reads it as a user of its own
		if err != nil {
			return "", err
		}
		deb.Close()
		if text, err = p.unpack(file); err != nil {
			return "", err
		}
	}
	next, err := p.folder.Write(Next(p.name), text, 0o755)
	if err != nil {
		return "", err
	}
	defer next.Close()
	if version, err = try(next); err != nil {
		return "", err
	}
	return version, trusted.SameRights(next, p.file)
}

// Forget removes what Prepare has made.
func (p *Program) Forget() {
	p.folder.Remove(Next(p.name))
	p.folder.Remove(packageOf(p.name))
}

// unpack returns the program in the package beside p, where dpkg would take that on this machine in place of p. People know it as file.
func (p *Program) unpack(file string) (program []byte, err error) {
	deb := p.folder.Path(packageOf(p.name))
	fields, err := output("dpkg-deb", "--show", "--showformat", "${Package} ${Architecture}", deb)
	if err != nil {
		return nil, err
	}
	arch, err := output("dpkg", "--print-architecture")
	if err != nil {
		return nil, err
	}
	if fields != "intsink "+arch {
		return nil, fmt.Errorf("%s is a package %s: this machine takes intsink %s", file, fields, arch)
	}
	if _, err := output("dpkg", "--search", p.Path()); err != nil {
		return nil, fmt.Errorf("the sink runs %s, which no package has: give the program itself: dpkg-deb --fsys-tarfile %s | tar -xO ./usr/bin/intsink >new", p.Path(), file)
	}
	if err := dependencies(deb, file); err != nil {
		return nil, err
	}
	all, err := exec.Command("dpkg-deb", "--fsys-tarfile", deb).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for files := tar.NewReader(bytes.NewReader(all)); ; {
		h, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%s has no program %s", file, p.Path())
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case h.Typeflag == tar.TypeReg && filepath.Join("/", h.Name) == p.Path():
			return io.ReadAll(files)
		}
	}
}

var (
	installs = regexp.MustCompile(`(?m)^Inst (\S+)`)
	unmet    = regexp.MustCompile(`(?m)^ *(?:\S+ : )?(Depends: .*)$`)
)

// dependencies returns an error where a package needs another one that is not installed. People know it as file.
func dependencies(deb, file string) error {
	said, err := output("apt-get", "--simulate", "--allow-downgrades", "--no-install-recommends", "install", deb)
	if why := unmet.FindStringSubmatch(said); err != nil && why != nil {
		return fmt.Errorf("%s: %s: install that first", file, strings.TrimSpace(why[1]))
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
		return fmt.Errorf("%s needs packages that are not installed, or older: apt-get install %s", file, strings.Join(lacking, " "))
	}
	return nil
}

// try runs a program, as far as that changes nothing: it may want libraries that are not here, or another processor.
func try(program *os.File) (version string, err error) {
	if version, err = trusted.Ask(program, "version"); err != nil {
		return "", fmt.Errorf("the new program does not run here: %w", err)
	}
	if !strings.HasPrefix(version, "intsink ") {
		return "", fmt.Errorf("it is no intsink: its version is %.40q", version)
	}
	if _, err := trusted.Ask(program, "upgrade", "--help"); err != nil {
		return "", fmt.Errorf("%s is older than intsink upgrade and waits for no turn: install it, and restart the sink", version)
	}
	return version, nil
}

// output returns what a tool of the system prints.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	return trusted.Output(cmd)
}

// Install makes the program beside p, which has been confirmed, the one that is installed. The one before it is kept.
func (p *Program) Install() error {
	if err := p.folder.Link(p.name, Before(p.name)); err != nil {
		return err
	}
	if deb := packageOf(p.name); p.folder.Has(deb) {
		if _, err := output("dpkg", "--force-confdef", "--force-confold", "--install", p.folder.Path(deb)); err != nil {
			return err
		}
		p.folder.Remove(deb)
	}
	return p.folder.Rename(Next(p.name), p.name) // a package has put the same there: so the file is the one that runs
}
