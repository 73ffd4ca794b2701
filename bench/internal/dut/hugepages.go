package dut

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

const nrHugepages = "/proc/sys/vm/nr_hugepages"

// ReserveHugepages makes the kernel hold at least as many MiB as s needs twice in 2 MiB pages. It
// never takes pages away, and leaves them reserved.
func (s *Setup) ReserveHugepages() error {
	want := s.memoryMiB()
	have, err := hugepages()
	if err != nil || have >= want {
		return err
	}
	if err := os.WriteFile(nrHugepages, []byte(strconv.Itoa(want)), 0o644); err != nil {
		return err
	}
	if have, err = hugepages(); err == nil && have < want {
		err = fmt.Errorf("the kernel reserved %d of %d hugepages: memory is short or fragmented", have, want)
	}
	return err
}

func hugepages() (int, error) {
	b, err := os.ReadFile(nrHugepages)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}
