// Package results keeps bench/RESULTS.md: each benchmark replaces its own
// section, with the command, the machine and the commit that the numbers are of.
package results

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Replace puts body into the section called name of the file at path, between
// the lines <!-- name --> and <!-- /name -->, which must be there.
func Replace(path, name, body string) error {
	return change(path, name, func(string) string { return body })
}

// ReplaceHere is Replace for a section that has a part for each machine, under the name of its processor: it replaces
// the part of this machine, and puts it first.
func ReplaceHere(path, name, body string) error {
	const heading = "### "
	return change(path, name, func(old string) string {
		here := heading + cpuinfo("model name") + "\n"
		all := here + "\n" + strings.TrimRight(body, "\n") + "\n"
		for _, part := range strings.SplitAfter(old, "\n"+heading) {
			part = heading + strings.TrimPrefix(strings.TrimSuffix(part, "\n"+heading), heading)
			if old != "" && !strings.HasPrefix(part, here) {
				all += "\n" + strings.TrimRight(part, "\n") + "\n"
			}
		}
		return all
	})
}

// change makes the text of a section what f makes of it.
func change(path, name string, f func(old string) string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	before, rest, found := strings.Cut(string(b), begin)
	old, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no section %s: lines %q and %q", path, name, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+strings.TrimRight(f(old), "\n")+"\n"+end+after), 0o644)
}

// Heading says what the numbers under it are of: this program with its arguments,
// the commit and the machine.
func Heading() string {
	return fmt.Sprintf("`%s`, commit %s, %s.\n%s.\n\n", strings.Join(os.Args, " "), commit(), time.Now().UTC().Format("2006-01-02 15:04 UTC"), Machine())
}

// Machine describes this machine and how busy it was of late.
func Machine() string {
	load, _ := os.ReadFile("/proc/loadavg")
	return fmt.Sprintf("%s, %d CPUs%s, Linux %s, DPDK %s, %s; load average %s",
		cpuinfo("model name"), runtime.NumCPU(), virtual(), output("uname", "-r"), output("pkg-config", "--modversion", "libdpdk"),
		runtime.Version(), strings.Join(strings.Fields(string(load))[:1], " "))
}

func virtual() string {
	if strings.Contains(" "+cpuinfo("flags")+" ", " hypervisor ") {
		return " of a virtual machine"
	}
	return ""
}

// cpuinfo returns a value of the first CPU in /proc/cpuinfo.
func cpuinfo(key string) string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		name, value, found := strings.Cut(lines.Text(), ":")
		if found && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// commit returns the short hash, and whether files differ from it, RESULTS.md aside.
func commit() string {
	hash := output("git", "rev-parse", "--short", "HEAD")
	if output("git", "status", "--porcelain", "--untracked-files=no", "--", ":!bench/RESULTS.md") != "" {
		hash += " with changes"
	}
	return hash
}

func output(name string, args ...string) string {
	b, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
