// Reads sysfs and procfs below a root that tests replace.

package doctor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// host reads the kernel's files of one machine.
type host struct {
	root    string
	machine *Machine
}

// text is a file without white space at its ends, "" where it cannot be read.
func (h *host) text(path ...string) string {
	b, err := os.ReadFile(h.path(path...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// number is a file that holds one number; false: there is none.
func (h *host) number(path ...string) (int, bool) {
	n, err := strconv.Atoi(h.text(path...))
	return n, err == nil
}

// names are the entries of a folder that match a pattern, by their last element.
func (h *host) names(pattern ...string) (all []string) {
	found, _ := filepath.Glob(h.path(pattern...))
	for _, f := range found {
		all = append(all, filepath.Base(f))
	}
	return all
}

// processes are the pids of those with a name; nil: there are none.
func (h *host) processes(name string) (pids []string) {
	name = name[:min(len(name), 15)] // as the kernel cuts it
	for _, pid := range h.names("proc/[0-9]*") {
		if h.text("proc", pid, "comm") == name {
			pids = append(pids, pid)
		}
	}
	return pids
}

// link returns the last element of the target of a symbolic link, "" if there is none.
func (h *host) link(path ...string) string {
	to, err := os.Readlink(h.path(path...))
	if err != nil {
		return ""
	}
	return filepath.Base(to)
}

func (h *host) exists(path ...string) bool {
	_, err := os.Stat(h.path(path...))
	return err == nil
}

func (h *host) path(path ...string) string {
	return filepath.Join(append([]string{h.root}, path...)...)
}

// cpuList reads a list such as "1-3,8" as the kernel writes it.
func cpuList(s string) map[int]bool {
	all := map[int]bool{}
	for _, part := range strings.Split(s, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(last); err != nil {
				continue
			}
		}
		for ; a <= b; a++ {
			all[a] = true
		}
	}
	return all
}

// list writes numbers as "1,2,3".
func list(numbers []int) string {
	text := make([]string, len(numbers))
	for i, n := range numbers {
		text[i] = strconv.Itoa(n)
	}
	return strings.Join(text, ",")
}
