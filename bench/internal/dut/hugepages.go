package dut

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// pageDir has the kernel's numbers of 2 MiB pages; its nr_hugepages is vm.nr_hugepages.
const pageDir = "/sys/kernel/mm/hugepages/hugepages-2048kB"

// hugepages are 2 MiB pages that were added to those that the kernel had reserved.
type hugepages struct {
	dir   string
	added int
}

// reserve makes at least so many pages free.
func (h *hugepages) reserve(pages int) error {
	free, err := h.read("free_hugepages")
	if err != nil || free >= pages {
		return err
	}
	have, err := h.read("nr_hugepages")
	if err != nil {
		return err
	}
	if err := h.write(have + pages - free); err != nil {
		return err
	}
	got, err := h.read("nr_hugepages")
	if err != nil {
		return err
	}
	h.added += got - have
	if got < have+pages-free {
		h.release()
		return fmt.Errorf("the kernel added %d of %d hugepages: memory is short or fragmented", got-have, pages-free)
	}
	return nil
}

// release gives back what was added. A page that is in use goes when its user ends.
func (h *hugepages) release() error {
	have, err := h.read("nr_hugepages")
	if err == nil && h.added > 0 {
		err = h.write(max(0, have-h.added))
		h.added = 0
	}
	return err
}

func (h *hugepages) read(name string) (int, error) {
	b, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}

func (h *hugepages) write(n int) error {
	return os.WriteFile(filepath.Join(h.dir, "nr_hugepages"), []byte(strconv.Itoa(n)), 0o644)
}
